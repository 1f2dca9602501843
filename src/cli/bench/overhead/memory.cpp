// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/overhead/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "cli/bench/overhead/median_interval.hpp"
#include "cli/support/installation.hpp"
#include "cli/support/launch.hpp"
#include "cli/support/local_ranks.hpp"

namespace sluice::cli {

namespace {

namespace fs = std::filesystem;

constexpr int k_memory_silence_seconds = 120;

/// A folder for reports, removed at the end.
class ReportFolder {
  public:
    ReportFolder() {
        std::string name = (fs::temp_directory_path() / "sluice-bench-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for reports can be made: " + name);
        path_ = name;
    }
    ReportFolder(ReportFolder const&) = delete;
    ReportFolder& operator=(ReportFolder const&) = delete;
    ~ReportFolder() {
        std::error_code unseen;
        fs::remove_all(path_, unseen);
    }
    std::string path() const { return path_.string(); }

  private:
    fs::path path_;
};

void launch_hello(std::string const& mpi, int ranks, std::vector<std::string> const& before, PeakLines& into) {
    auto const program = program_for(mpi, "sluice-bench-overhead");
    if (!program) throw std::runtime_error("no benchmark program for " + mpi + " beside this command");
    std::vector<std::string> command = local_launcher(mpi, ranks);
    command.insert(command.end(), before.begin(), before.end());
    command.insert(command.end(), {program->string(), "memory"});
    Ended const ended = launch(command, local_environment(), k_memory_silence_seconds,
                               [&into](std::string const& line) { into.take(line); });
    if (ended.code != 0)
        throw std::runtime_error(fmt::format("the program ended with {}: {}", ended.code, ended.complaints));
}

}  // namespace

void PeakLines::take(std::string const& line) {
    std::istringstream words(line);
    std::string what;
    int rank = 0;
    double kib = 0;
    if (words >> what >> rank >> kib && what == "peak") peaks_[rank].push_back(kib);
}

std::map<int, double> PeakLines::medians() const {
    std::map<int, double> medians;
    for (auto const& [rank, peaks] : peaks_)
        medians[rank] = median_interval(peaks).median;
    return medians;
}

OverheadRow memory_row(OverheadPlace const& place, bool report, PeakLines const& watched, PeakLines const& plain) {
    std::map<int, double> const with = watched.medians();
    std::map<int, double> const without = plain.medians();
    double least = 0;
    double most = 0;
    double base = 0;
    for (auto const& [rank, kib] : with) {
        auto const same = without.find(rank);
        if (same == without.end()) continue;
        double const added = kib - same->second;
        least = base == 0 ? added : std::min(least, added);
        most = base == 0 ? added : std::max(most, added);
        base = std::max(base, same->second);
    }
    return {{"bench", "overhead"},      {"case", "memory"},         {"ranks", place.ranks}, {"mpi", place.mpi},
            {"bed", "local"},           {"ratio", "watched-plain"}, {"report", report},     {"plain_kib", base},
            {"added_least_kib", least}, {"added_most_kib", most}};
}

std::vector<OverheadRow> measure_memory(std::string const& mpi, std::vector<int> const& all_ranks, int launches) {
    std::vector<OverheadRow> rows;
    std::string const self = fs::canonical("/proc/self/exe").string();
    for (int const ranks : all_ranks) {
        ReportFolder const folder;
        PeakLines plain;
        PeakLines watched;
        PeakLines reported;
        for (int i = 0; i < launches; ++i) {
            launch_hello(mpi, ranks, {}, plain);
            launch_hello(mpi, ranks, {self, "run"}, watched);
            launch_hello(mpi, ranks, {self, "run", "--report", folder.path()}, reported);
        }
        rows.push_back(memory_row({mpi, ranks}, false, watched, plain));
        rows.push_back(memory_row({mpi, ranks}, true, reported, plain));
    }
    return rows;
}

std::string memory_table(std::string const& mpi, std::vector<OverheadRow> const& rows) {
    std::string text = fmt::format(
        "\n{} · Sluice's part of a rank's peak, by the kernel: MPI_Init and MPI_Finalize alone\n"
        "  {:>5}  {:<12} {:>10} {:>22}\n",
        mpi, "ranks", "", "plain KiB", "added KiB (least … most rank)");
    for (OverheadRow const& row : rows)
        text += fmt::format("  {:>5}  {:<12} {:>10.0f} {:>12.0f} … {:.0f}\n", row.at("ranks").get<int>(),
                            row.at("report").get<bool>() ? "--report" : "summary", row.at("plain_kib").get<double>(),
                            row.at("added_least_kib").get<double>(), row.at("added_most_kib").get<double>());
    return text;
}

}  // namespace sluice::cli
