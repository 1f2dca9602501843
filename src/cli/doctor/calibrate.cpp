// SPDX-License-Identifier: BSD-3-Clause
#include "cli/doctor/calibrate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <iostream>
#include <string>

#include "cli/bench/launch.hpp"
#include "cli/doctor/mpi_probe.hpp"
#include "cli/support/installation.hpp"
#include "cli/support/launch.hpp"
#include "cli/support/local_ranks.hpp"
#include "kernel/calibration/calibration_file.hpp"

namespace sluice::cli {

namespace {

using kernel::Calibration;

constexpr char const* k_program = "sluice-bench-redistribute";
constexpr int k_silent_seconds = 60;
constexpr int k_roomy_ranks = 2;
constexpr int k_crowded_ranks = 4;  // on the processors of the others

/// While it lives, this process and those that it starts run on the first `most` of its processors.
class FewProcessors {
  public:
    explicit FewProcessors(int most) {
        if (sched_getaffinity(0, sizeof all_, &all_) != 0) return;
        cpu_set_t few;
        CPU_ZERO(&few);
        for (std::size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&few) < most; ++cpu)
            if (CPU_ISSET(cpu, &all_)) CPU_SET(cpu, &few);
        is_set_ = sched_setaffinity(0, sizeof few, &few) == 0;
    }
    FewProcessors(FewProcessors const&) = delete;
    FewProcessors& operator=(FewProcessors const&) = delete;
    ~FewProcessors() {
        if (is_set_) sched_setaffinity(0, sizeof all_, &all_);
    }

  private:
    cpu_set_t all_{};
    bool is_set_ = false;
};

/// Returns the median of the seconds of `method` with blocks of that size, divided by the blocks that `blocks` tells.
template <typename BlocksOf>
std::optional<double> seconds_a_block(std::vector<Row> const& rows, std::uint64_t bytes, char const* method,
                                      BlocksOf const& blocks) {
    for (Row const& row : rows) {
        if (!row.contains("method") || row.at("method") != method || row.at("block_bytes") != bytes) continue;
        if (row.at("outcome") != "ok") return std::nullopt;
        return row.at("seconds").at("median").get<double>() / blocks(row);
    }
    return std::nullopt;
}

std::optional<Calibration::Costs> measure(MpiBuild const& build, int ranks, std::string& why) {
    FewProcessors const few(k_roomy_ranks);
    std::vector<std::string> command = local_launcher(build.name, ranks);
    command.insert(command.end(), {bench_program(build.name, k_program), "--case", "random", "--block",
                                   fmt::format("{}", fmt::join(Calibration::k_sizes, ",")), "--mib", "64", "--pairs",
                                   "5", "--limit", "30", "--method", "token,alltoallv_warm,alltoallv_lean"});
    std::vector<Row> rows;
    Ended const ended = launch(command, launch_environment(), k_silent_seconds, [&](std::string const& line) {
        Row row = Row::parse(line, nullptr, false);
        if (row.is_object()) rows.push_back(std::move(row));
    });
    auto costs = ended.code == 0 ? costs_of(rows) : std::nullopt;
    if (!costs)
        why =
            fmt::format("{} on {} ranks {}{}{}", k_program, ranks,
                        ended.silent      ? "was silent and was stopped"
                        : ended.code != 0 ? fmt::format("ended with code {}", ended.code)
                                          : "printed no plausible figures",
                        ended.complaints.empty() ? "" : ": ", ended.complaints.substr(0, ended.complaints.find('\n')));
    return costs;
}

std::string microseconds(Calibration::Curve const& curve) {
    std::string text;
    for (float const seconds : curve)
        text += fmt::format(" {:>9.3f}", static_cast<double>(seconds) * 1e6);
    return text;
}

void print_lines(Calibration::Costs const& costs, char const* when) {
    fmt::print("  {:<28} token {}\n  {:<28} packed{}\n", when, microseconds(costs.token), "",
               microseconds(costs.packed));
}

void print_row(std::string const& mpi, Calibration::Costs const& costs, char const* when) {
    Row const row{{"calibrate", mpi},
                  {"processors", when},
                  {"block_bytes", Calibration::k_sizes},
                  {"token", costs.token},
                  {"packed", costs.packed}};
    std::cout << row.dump() << std::endl;
}

/// Returns why it failed; empty if it did not.
std::string calibrate_one(MpiBuild const& build, bool json) {
    std::string why;
    nlohmann::json const said = ask_mpi(build, why);
    if (said.is_null()) return why;
    auto const roomy = measure(build, k_roomy_ranks, why);
    if (!roomy) return why;
    auto const crowded = measure(build, k_crowded_ranks, why);
    if (!crowded) return why;
    Calibration const calibration{*roomy, *crowded};
    kernel::CalibrationKey const key = kernel::calibration_key(said.at("library").get<std::string>());
    if (json) {
        print_row(build.name, *roomy, "roomy");
        print_row(build.name, *crowded, "crowded");
    } else {
        fmt::print("{}: microseconds of a rank for a block of {} bytes\n", key.mpi,
                   fmt::join(Calibration::k_sizes, ", "));
        print_lines(*roomy, "a processor for each rank");
        print_lines(*crowded, "two ranks on a processor");
    }
    if (why = kernel::write_calibration(key, calibration); !why.empty()) return why;
    if (!json) fmt::print("  written to {}/{}\n", kernel::calibration_folder(), kernel::calibration_name(key));
    std::fflush(stdout);
    return {};
}

}  // namespace

std::optional<Calibration::Costs> costs_of(std::vector<Row> const& rows) {
    Calibration::Costs costs;
    for (std::size_t i = 0; i < Calibration::k_sizes.size(); ++i) {
        std::uint64_t const bytes = Calibration::k_sizes[i];
        auto const moved = [&](Row const& row) {
            return row.at("bytes_moved").get<double>() / static_cast<double>(bytes);
        };
        auto const all = [&](Row const& row) { return row.at("blocks").get<double>(); };
        auto const token = seconds_a_block(rows, bytes, "token", moved);
        auto const warm = seconds_a_block(rows, bytes, "alltoallv_warm", all);
        auto const lean = seconds_a_block(rows, bytes, "alltoallv_lean", all);
        if (!token || !warm || !lean) return std::nullopt;
        costs.token[i] = static_cast<float>(*token);
        costs.packed[i] = static_cast<float>(std::min(*warm, *lean));
    }
    return kernel::is_plausible(Calibration{costs, costs}) ? std::optional(costs) : std::nullopt;
}

int calibrate(bool json) {
    int measured = 0;
    bool all_went_well = true;
    for (MpiBuild const& build : mpi_builds()) {
        if (build.name == "simgrid" || build.launcher.empty() || !program_for(build.name, k_program)) continue;
        std::string const why = calibrate_one(build, json);
        if (why.empty()) {
            ++measured;
            continue;
        }
        all_went_well = false;
        std::cerr << fmt::format("sluice: {} was not calibrated: {}\n", build.name, why);
    }
    if (measured == 0 && all_went_well)
        std::cerr << fmt::format("sluice: {} is not next to this command for any MPI with a launcher\n", k_program);
    return measured > 0 && all_went_well ? 0 : 1;
}

}  // namespace sluice::cli
