// SPDX-License-Identifier: BSD-3-Clause
// `sluice bench flood`: an unmodified program whose messages come faster than they are received, as it is and under
// `sluice run --flood on`, launch by launch in turn.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "cli/bench/bench.hpp"
#include "cli/bench/flood/rows.hpp"
#include "cli/bench/launch.hpp"
#include "cli/support/command.hpp"
#include "cli/support/installation.hpp"
#include "cli/support/launch.hpp"
#include "cli/support/local_ranks.hpp"
#include "command_line/command_line.hpp"

namespace sluice::cli {

namespace {

constexpr char const* k_flood_program = "sluice-bench-flood";
constexpr int k_flood_silent_seconds = 120;
constexpr int k_flood_bed_refuses = 3;

struct FloodOptions {
    std::vector<std::string> mpis;
    std::vector<std::string> cases{"many_to_one", "turns",  "computes",  "bcast",
                                   "reduce",      "gather", "ping_pong", "idle"};
    std::vector<std::string> beds{"local", "tcp"};
    std::vector<std::uint64_t> bytes{64, 1024, 4000, 16384};
    std::string share;
    double rate = 1000;
    double mib = 8;
    double seconds = 0;
    int ranks = 4;
    int pairs = 5;
    double minutes = 10;
    bool json = false;
};

std::vector<std::string> flood_launcher(FloodPlace const& place, FloodOptions const& options) {
    if (place.bed != "cluster") return local_launcher(place.mpi, place.ranks);
    return cluster_launcher(place.mpi, place.ranks, options.rate);
}

std::vector<std::string> flood_environment(FloodPlace const& place) {
    std::vector<std::string> environment = launch_environment();
    if (place.bed != "tcp") return environment;
    if (place.mpi == "openmpi") environment.emplace_back("OMPI_MCA_btl=tcp,self");
    if (place.mpi == "mpich") environment.insert(environment.end(), {"UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"});
    return environment;
}

/// One launch; nothing after a failure, which is told.
std::optional<FloodSample> measure_flood(FloodPlace const& place, FloodOptions const& options, bool controlled) {
    std::vector<std::string> command = flood_launcher(place, options);
    // The case idle asks what flood control adds to watching.
    if (controlled || place.name == "idle")
        command.insert(command.end(), {std::filesystem::canonical("/proc/self/exe").string(), "run", "--quiet"});
    if (controlled) {
        command.insert(command.end(), {"--flood", "on"});
        if (!options.share.empty()) command.insert(command.end(), {"--flood-share", options.share});
    }
    command.insert(command.end(), {bench_program(place.mpi, k_flood_program), "--case", place.name, "--bytes",
                                   std::to_string(place.bytes), "--mib", fmt::format("{}", options.mib), "--seconds",
                                   fmt::format("{}", options.seconds)});
    std::optional<FloodSample> sample;
    Ended const ended = launch(command, flood_environment(place), k_flood_silent_seconds, [&](std::string const& line) {
        if (auto found = flood_sample(line)) sample = found;
    });
    if (ended.code == 0 && sample) return sample;
    std::cerr << fmt::format("sluice: {}, bed {}, {} of {} bytes, {} flood control: the program {}\n{}", place.mpi,
                             place.bed, place.name, place.bytes, controlled ? "with" : "without",
                             ended.code == k_flood_bed_refuses ? "has no bed"
                             : ended.silent                    ? "hung and was stopped"
                                                               : fmt::format("ended with code {}", ended.code),
                             ended.complaints);
    return std::nullopt;
}

int run_place(FloodPlace const& place, FloodOptions const& options) {
    FloodSeries plain;
    FloodSeries controlled;
    for (int i = 0; i < options.pairs; ++i) {
        if (options.seconds > 0) {  // without flood control the memory of the node would be full
            auto const with = measure_flood(place, options, true);
            if (!with) return 1;
            controlled.push_back(*with);
            continue;
        }
        auto const without = measure_flood(place, options, false);
        auto const with = without ? measure_flood(place, options, true) : std::nullopt;
        if (!with) return 1;
        plain.push_back(*without);
        controlled.push_back(*with);
    }
    std::vector<Row> const rows =
        options.seconds > 0 ? std::vector{flood_row(place, controlled)} : flood_rows(place, plain, controlled);
    if (options.json)
        for (Row const& row : rows)
            std::cout << row.dump() << "\n";
    else
        std::cout << flood_line(rows) << "\n";
    std::cout << std::flush;
    return 0;
}

std::vector<FloodPlace> places_of_floods(FloodOptions const& options) {
    std::vector<FloodPlace> places;
    for (std::string const& mpi : options.mpis)
        for (std::string const& bed : options.beds)
            for (std::string const& name : options.cases)
                for (std::uint64_t const bytes : options.bytes)
                    places.push_back({mpi, bed, name, bytes, options.ranks});
    return places;
}

void add_flood_options(command_line::CommandLine& line, FloodOptions& options) {
    line.option("--case", options.cases, "many_to_one, turns, computes, bcast, reduce, gather, ping_pong, idle (all)")
        .separated_by_commas()
        .one_of({"many_to_one", "turns", "computes", "bcast", "reduce", "gather", "ping_pong", "idle"});
    line.option("--bytes", options.bytes, "of a message").separated_by_commas().positive().shows_default();
    line.option("--bed", options.beds,
                "local: shared memory; tcp: through the loopback device; cluster: two nodes and a wire")
        .separated_by_commas()
        .one_of({"local", "tcp", "cluster"})
        .shows_default();
    line.option("--mpi", options.mpis, "openmpi, mpich (those found)").separated_by_commas();
    line.option("--ranks", options.ranks, "of each launch").between(2, 1024).shows_default();
    line.option("--rate", options.rate, "Mbit/s of each wire of bed cluster").not_negative().shows_default();
    line.option("--mib", options.mib, "that each sender sends").not_negative().shows_default();
    line.option("--seconds", options.seconds, "many_to_one for so long instead, with flood control only")
        .not_negative();
    line.option("--flood-share", options.share, "as `sluice run` has it");
    line.option("--pairs", options.pairs, "launches of each kind, in turns").between(1, 1000).shows_default();
    line.option("--minutes", options.minutes, "begin no cell after this number of minutes; 0: no limit")
        .not_negative()
        .shows_default();
    line.flag("--json", options.json, "one JSON object on each line instead of a table");
}

}  // namespace

int bench_flood(std::vector<std::string> const& arguments) {
    FloodOptions options;
    command_line::CommandLine line("sluice bench flood",
                                   "Small messages that come faster than they are received: how much the receiver's "
                                   "memory grows, and the time, without Sluice and by `sluice run --flood on`");
    add_flood_options(line, options);
    if (!line.parse(arguments)) return 0;
    check_bench_choice(options.mpis, {options.ranks});
    if (options.mpis.empty()) options.mpis = mpis_with_program(k_flood_program, false);
    std::vector<FloodPlace> const places = places_of_floods(options);
    if (!options.json) std::cout << flood_head() << std::endl;
    return run_cells(places.size(), options.minutes, [&](std::size_t at) { return run_place(places[at], options); });
}

}  // namespace sluice::cli
