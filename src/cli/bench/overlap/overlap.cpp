// SPDX-License-Identifier: BSD-3-Clause
// `sluice bench overlap`: how much of the waiting for a message an unmodified program hides under `sluice run
// --overlap`, next to the same receive without it and to what programs write by hand, on shaped wires and on one node.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

#include "cli/bench/bench.hpp"
#include "cli/bench/launch.hpp"
#include "cli/bench/overlap/rows.hpp"
#include "cli/bench/overlap/table.hpp"
#include "cli/support/command.hpp"
#include "cli/support/installation.hpp"
#include "cli/support/launch.hpp"
#include "cli/support/local_ranks.hpp"
#include "command_line/command_line.hpp"

namespace sluice::cli {

namespace {

constexpr char const* k_overlap_program = "sluice-bench-overlap";
constexpr int k_silent_seconds = 120;
constexpr int k_bed_refuses = 3;
constexpr char const* k_plain = "none";

struct OverlapOptions {
    std::vector<std::string> mpis;
    std::vector<std::string> beds;
    std::vector<double> rates;
    std::vector<std::string> rate_words{"1000"};
    std::vector<std::string> cases{"independent", "light", "heavy"};
    std::vector<std::string> words{"on", "auto"};
    std::vector<std::uint64_t> bytes{65536, 262144, 1048576, 4194304, 16777216};
    int warm_up = 6;
    int pairs = 7;
    int launches = 1;
    int latency_pairs = 100;
    double idle_seconds = 1;
    double minutes = 10;
    bool json = false;
};

/// The launches of one MPI on one bed.
class OverlapPlaceRun {
  public:
    OverlapPlaceRun(OverlapPlace const& place, OverlapOptions const& options) : place_(place), options_(options) {}

    /// Launches without Sluice, and under each word, take turns. Returns the exit code.
    int run() {
        std::vector<std::string> words{k_plain, "off"};
        for (std::string const& word : options_.words)
            if (word != "off") words.push_back(word);
        for (int i = 0; i < options_.launches; ++i)
            for (std::string const& word : words)
                if (!start(word)) return 1;
        for (std::string const& word : words)
            add_rows(word);
        tell();
        return 0;
    }

  private:
    bool measures_cells(std::string const& word) const {
        return word == k_plain || std::find(options_.words.begin(), options_.words.end(), word) != options_.words.end();
    }

    std::vector<std::string> launcher() const {
        if (place_.bed == "local") return local_launcher(place_.mpi, 2);
        return cluster_launcher(place_.mpi, 2, place_.rate_mbit);
    }

    std::vector<std::string> command_for(std::string const& word) const {
        std::vector<std::string> command = launcher();
        if (word != k_plain)
            command.insert(command.end(), {std::filesystem::canonical("/proc/self/exe").string(), "run"});
        // Off is the default, so a build without the service measures what watching alone costs.
        if (word != k_plain && word != "off") command.insert(command.end(), {"--overlap", word});
        command.insert(
            command.end(),
            {bench_program(place_.mpi, k_overlap_program), "--case", fmt::format("{}", fmt::join(options_.cases, ",")),
             "--bytes", fmt::format("{}", fmt::join(options_.bytes, ",")), "--warm-up",
             std::to_string(options_.warm_up), "--pairs", std::to_string(measures_cells(word) ? options_.pairs : 0),
             "--latency", std::to_string(options_.latency_pairs), "--idle", fmt::format("{}", options_.idle_seconds)});
        // Without Sluice only what shows whether its presence changes other methods.
        if (word == k_plain) command.insert(command.end(), {"--method", "blocking,by_hand,strips"});
        return command;
    }

    std::vector<std::string> environment() const {
        std::vector<std::string> environment = launch_environment();
        // Waiting ranks spin, as users run them with a core for each rank.
        if (place_.bed == "local") environment.emplace_back("OMPI_MCA_mpi_yield_when_idle=0");
        return environment;
    }

    /// Returns false after a launch that failed, which is told.
    bool start(std::string const& word) {
        OverlapLines& lines = lines_[word];
        Ended const ended = launch(command_for(word), environment(), k_silent_seconds,
                                   [&lines](std::string const& line) { lines.take(line); });
        if (ended.code == 0 && lines.between() == (word != k_plain)) {
            keep_said(word, ended.complaints);
            return true;
        }
        if (ended.code == k_bed_refuses) {
            std::cerr << "sluice: bed " << place_.bed << " cannot be made: " << ended.complaints;
            return false;
        }
        std::string const fate = ended.silent      ? "hung and was stopped"
                                 : ended.code != 0 ? fmt::format("ended with code {}", ended.code)
                                                   : "did not run with, or without, Sluice before its MPI";
        std::cerr << fmt::format("sluice: {}, bed {}, overlap {}: the program {}\n{}", place_.mpi, place_.bed, word,
                                 fate, ended.complaints);
        add_rows(word);
        tell();
        return false;
    }

    void keep_said(std::string const& word, std::string const& complaints) {
        for (std::string const& line : said_of_overlap(complaints)) {
            Row row{{"bench", "overlap"}, {"case", "said"}, {"ranks", 2}, {"mpi", place_.mpi}, {"bed", place_.bed}};
            if (place_.rate_mbit > 0) row["rate_mbit"] = place_.rate_mbit;
            row["overlap"] = word;
            row["line"] = line;
            said_.push_back(std::move(row));
        }
    }

    void add_rows(std::string const& word) {
        OverlapLines const& lines = lines_[word];
        if (word != k_plain)
            for (Row& row : cell_rows(place_, word, lines, lines_[k_plain]))
                rows_.push_back(std::move(row));
        for (Row& row : latency_rows(place_, word, lines))
            rows_.push_back(std::move(row));
        for (Row& row : idle_rows(place_, word, lines))
            rows_.push_back(std::move(row));
        for (Row& row : delay_rows(place_, word, lines))
            rows_.push_back(std::move(row));
    }

    void tell() {
        if (rows_.empty()) return;
        rows_.insert(rows_.end(), said_.begin(), said_.end());
        if (options_.json)
            for (Row const& row : rows_)
                std::cout << row.dump() << "\n";
        else
            std::cout << overlap_table(rows_) << "\n";
        std::cout << std::flush;
    }

    OverlapPlace place_;
    OverlapOptions const& options_;
    std::map<std::string, OverlapLines> lines_;
    std::vector<Row> rows_;
    std::vector<Row> said_;
};

std::vector<OverlapPlace> places_of(OverlapOptions const& options) {
    std::vector<OverlapPlace> places;
    for (std::string const& bed : options.beds)
        for (std::string const& mpi : options.mpis) {
            if (bed == "local")
                places.push_back({mpi, bed, 0});
            else
                for (double const rate : options.rates)
                    places.push_back({mpi, bed, rate});
        }
    return places;
}

void add_options(command_line::CommandLine& line, OverlapOptions& options) {
    line.option("--case", options.cases, "independent, light, heavy")
        .separated_by_commas()
        .one_of({"independent", "light", "heavy"});
    line.option("--bytes", options.bytes, "of a message").separated_by_commas().positive().shows_default();
    line.option("--overlap", options.words, "words of `sluice run --overlap` to measure: on, auto, off")
        .separated_by_commas()
        .one_of({"on", "auto", "off"})
        .shows_default();
    line.option("--bed", options.beds, "cluster, local (both; without root local)")
        .separated_by_commas()
        .one_of({"cluster", "local"});
    line.option("--rate", options.rate_words, "Mbit/s of each wire of bed cluster")
        .separated_by_commas()
        .shows_default();
    line.option("--mpi", options.mpis, "openmpi, mpich (those found)").separated_by_commas();
    line.option("--pairs", options.pairs, "rounds of a launch after the warm-up; in each, every method runs once")
        .between(1, 1000)
        .shows_default();
    line.option("--warm-up", options.warm_up, "rounds before them in which Sluice may learn about a call site")
        .between(1, 1000)
        .shows_default();
    line.option("--launches", options.launches, "launches of each kind, in turns").between(1, 100).shows_default();
    line.option("--latency", options.latency_pairs, "pairs of blocks of 8-byte messages in a launch; 0: none")
        .between(0, 100000)
        .shows_default();
    line.option("--idle", options.idle_seconds, "seconds in which wake-ups are counted; 0: none")
        .not_negative()
        .shows_default();
    line.option("--minutes", options.minutes, "begin no MPI on a bed after this number of minutes; 0: no limit")
        .not_negative()
        .shows_default();
    line.flag("--json", options.json, "one JSON object on each line instead of tables");
}

void complete(OverlapOptions& options) {
    check_bench_choice(options.mpis, {});
    if (options.mpis.empty()) options.mpis = mpis_with_program(k_overlap_program, false);
    for (std::string const& word : options.rate_words) {
        char* end = nullptr;
        double const rate = std::strtod(word.c_str(), &end);
        if (end == word.c_str() || *end != '\0' || !(rate > 0 && rate <= 1e6))
            throw UsageError("--rate wants Mbit/s, a number above 0, not " + word);
        options.rates.push_back(rate);
    }
    if (!options.beds.empty()) return;
    options.beds = {"cluster", "local"};
    if (geteuid() == 0) return;
    options.beds = {"local"};
    std::cerr
        << "sluice: bed cluster is left out, because it needs root; between ranks of one node nothing can be won\n";
}

}  // namespace

int bench_overlap(std::vector<std::string> const& arguments) {
    OverlapOptions options;
    command_line::CommandLine line("sluice bench overlap",
                                   "How much of the waiting for a message is hidden behind work: by `sluice run "
                                   "--overlap` for an unmodified program, and by hand");
    add_options(line, options);
    if (!line.parse(arguments)) return 0;
    complete(options);
    std::vector<OverlapPlace> const places = places_of(options);
    return run_cells(places.size(), options.minutes,
                     [&](std::size_t at) { return OverlapPlaceRun(places[at], options).run(); });
}

}  // namespace sluice::cli
