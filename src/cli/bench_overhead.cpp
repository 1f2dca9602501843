// `sluice bench overhead`: what watching costs. The same program with and without `sluice run`, launched in turns.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/bench.hpp"
#include "cli/command.hpp"
#include "cli/installation.hpp"
#include "cli/launch.hpp"
#include "cli/local_ranks.hpp"
#include "cli/options.hpp"

namespace sluice::cli {

namespace {

struct Cell {
    std::string name;
    std::uint64_t bytes = 0;
    auto operator<=>(Cell const&) const = default;
};
using Seconds = std::map<Cell, std::vector<double>>;

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
}

/// One launch; adds what it measured.
void run_once(std::vector<std::string> const& command, std::vector<std::string> const& environment, Seconds& into) {
    Ended const ended = launch(command, environment, 60, [&](std::string const& line) {
        std::istringstream words(line);
        Cell cell;
        double seconds = 0;
        if (words >> cell.name >> cell.bytes >> seconds) into[cell].push_back(seconds);
    });
    if (ended.code != 0)
        throw std::runtime_error(fmt::format("the program ended with {}: {}", ended.code, ended.complaints));
}

struct Measured {
    Seconds plain;
    Seconds watched;
};

Measured measure(std::string const& mpi, int ranks, int pairs, int rounds) {
    auto const program = program_for(mpi, "sluice-bench-overhead");
    if (!program) throw std::runtime_error("no benchmark program for " + mpi + " beside this command");
    std::vector<std::string> plain = local_launcher(mpi, ranks);
    std::vector<std::string> watched = plain;
    watched.insert(watched.end(), {std::filesystem::canonical("/proc/self/exe").string(), "run"});
    for (auto* command : {&plain, &watched})
        command->insert(command->end(), {program->string(), std::to_string(rounds)});
    // Both MPIs spin while they wait: with a core for each rank that is what users have.
    std::vector<std::string> environment = local_environment();
    if (ranks <= sysconf(_SC_NPROCESSORS_ONLN)) environment.emplace_back("OMPI_MCA_mpi_yield_when_idle=0");
    Measured measured;
    for (int pair = 0; pair < pairs; ++pair) {
        run_once(pair % 2 == 0 ? plain : watched, environment, pair % 2 == 0 ? measured.plain : measured.watched);
        run_once(pair % 2 == 0 ? watched : plain, environment, pair % 2 == 0 ? measured.watched : measured.plain);
    }
    return measured;
}

void print(std::string const& mpi, int ranks, Measured const& measured, bool json) {
    if (!json)
        fmt::print("\n{} · {} ranks\n  {:<10} {:>9} {:>12} {:>12} {:>10}  {}\n", mpi, ranks, "case", "bytes",
                   "plain us", "watched us", "added us", "watched/plain (min … max)");
    for (auto const& [cell, plain] : measured.plain) {
        std::vector<double> const& watched = measured.watched.at(cell);
        std::vector<double> ratios;
        for (std::size_t i = 0; i < std::min(plain.size(), watched.size()); ++i)
            ratios.push_back(watched[i] / plain[i]);
        auto const [least, most] = std::minmax_element(ratios.begin(), ratios.end());
        double const ratio = median(ratios);
        if (json) {
            nlohmann::ordered_json row{{"bench", "overhead"},
                                       {"case", cell.name},
                                       {"ranks", ranks},
                                       {"mpi", mpi},
                                       {"bed", "local"},
                                       {"bytes", cell.bytes},
                                       {"ratio", "watched/plain"},
                                       {"time", {{"min", *least}, {"median", ratio}, {"max", *most}}},
                                       {"seconds_plain", median(plain)},
                                       {"seconds_watched", median(watched)}};
            std::cout << row.dump() << "\n";
        } else {
            fmt::print("  {:<10} {:>9} {:>12.3f} {:>12.3f} {:>10.3f}  {:.3f} ({:.3f} … {:.3f})\n", cell.name,
                       cell.bytes, 1e6 * median(plain), 1e6 * median(watched), 1e6 * (median(watched) - median(plain)),
                       ratio, *least, *most);
        }
    }
}

}  // namespace

int bench_overhead(std::vector<std::string> const& arguments) {
    std::vector<std::string> mpis{"openmpi", "mpich"};
    int ranks = 2;
    int pairs = 7;
    int rounds = 2000;
    bool json = false;
    CLI::App app("What watching costs: a ping-pong and a halo exchange with and without `sluice run`",
                 "bench overhead");
    app.add_option("--mpi", mpis, "openmpi, mpich")->delimiter(',');
    app.add_option("--ranks", ranks, "ranks; more than cores measure the machine's waiting")
        ->check(CLI::Range(2, 64))
        ->capture_default_str();
    app.add_option("--pairs", pairs, "launches of each kind, in turns")
        ->check(CLI::Range(1, 100))
        ->capture_default_str();
    app.add_option("--rounds", rounds, "exchanges of 16 KiB in a batch; of other sizes more or fewer")
        ->check(CLI::Range(40, 1000000))
        ->capture_default_str();
    app.add_flag("--json", json, "one JSON object a line instead of tables");
    if (!parse_options(app, arguments)) return 0;
    for (std::string const& mpi : mpis)
        print(mpi, ranks, measure(mpi, ranks, pairs, rounds), json);
    return 0;
}

}  // namespace sluice::cli
