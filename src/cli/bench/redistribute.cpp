// SPDX-License-Identifier: BSD-3-Clause
// `sluice bench redistribute`: one launch for each cell, so that first calls are really first calls and a method that
// hangs spoils only its own cell.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <set>

#include "cli/bench/bench.hpp"
#include "cli/bench/launch.hpp"
#include "cli/bench/launches.hpp"
#include "cli/bench/plan.hpp"
#include "cli/bench/table.hpp"
#include "cli/support/command.hpp"
#include "cli/support/installation.hpp"
#include "cli/support/launch.hpp"
#include "cli/support/local_ranks.hpp"
#include "command_line/command_line.hpp"

namespace sluice::cli {

namespace {

constexpr char const* k_redistribute_program = "sluice-bench-redistribute";

/// Another library, which a program of its own compares with: bench/peers.
struct Peer {
    std::string_view method;
    std::string_view program;
};

constexpr std::array k_peers{
    Peer{"zoltan_migrate", "sluice-bench-redistribute-zoltan"},
    Peer{"petsc_sf", "sluice-bench-redistribute-petsc"},
    Peer{"p4est_transfer", "sluice-bench-redistribute-p4est"},
};

Peer const* peer_with(std::string_view method) {
    auto const* const found =
        std::find_if(k_peers.begin(), k_peers.end(), [&](Peer const& peer) { return peer.method == method; });
    return found == k_peers.end() ? nullptr : found;
}

struct RedistributeOptions {
    BenchChoice choice;
    std::vector<std::string> methods;
    std::string bed = "local";
    double rate_mbit = 1000;
    int nodes = 2;
    int mib = 80;
    int pairs = 5;
    int launches = 1;
    int limit_seconds = 20;
    double minutes = 10;
    bool json = false;
};

/// A sweep in progress.
class RedistributeSweep {
  public:
    explicit RedistributeSweep(RedistributeOptions const& options) : options_(options) {}

    int run(std::vector<BenchCell> const& cells) {
        return run_cells(cells.size(), options_.minutes, [&](std::size_t at) {
            return options_.launches > 1 ? run_launches(cells[at]) : run_cell(cells[at]);
        });
    }

  private:
    /// Measures a cell: Sluice and what MPI offers in one program, and each peer in a program of its own.
    int run_cell(BenchCell const& cell) {
        std::vector<Row> rows;
        int worst = 0;
        if (all_methods() || !own_methods().empty())
            worst = run_program(cell, k_redistribute_program, own_methods(), rows, [](Row const&) { return true; });
        for (Peer const& peer : k_peers)
            if (is_chosen(peer, cell.mpi)) worst = std::max(worst, run_peer(cell, peer, rows));
        if (!options_.json) std::cout << redistribute_table(rows) << std::endl;
        return worst;
    }

    /// Launches a cell again and again.
    int run_launches(BenchCell const& cell) {
        Launches launches;
        for (int launch = 0; launch < options_.launches; ++launch) {
            std::vector<Row> rows;
            int const code =
                run_program(cell, k_redistribute_program, own_methods(), rows, [](Row const&) { return true; });
            if (code != 0) return code;
            if (!launches.add(rows)) {
                if (!options_.json) std::cout << redistribute_table(rows) << std::endl;
                return 0;  // a method took too long: the row tells it
            }
        }
        if (options_.json)
            for (Row const& row : launches.rows())
                std::cout << row.dump() << std::endl;
        else
            std::cout << launches.table() << std::endl;
        return 0;
    }

    /// Of a peer's launch, in which Sluice takes turns with it, the peer's rows are kept: its own and those of ratios
    /// to it.
    int run_peer(BenchCell const& cell, Peer const& peer, std::vector<Row>& rows) {
        std::string const method(peer.method);
        if (!program_for(cell.mpi, std::string(peer.program))) {
            keep(rows, row_without_time(
                           cell, method, "refused",
                           fmt::format("{} is not built (make bench-peers builds it, for Open MPI)", peer.program)));
            return 0;
        }
        return run_program(cell, std::string(peer.program), {"token", method}, rows, [&](Row const& row) {
            if (row.contains("ratio")) return row.at("ratio").get<std::string>().ends_with("/" + method);
            return row.contains("method") && row.at("method") == method;
        });
    }

    /// Relaunches without a method that took too long, until the other methods are measured. Adds the rows that are
    /// wanted.
    int run_program(BenchCell const& cell, std::string const& program, std::vector<std::string> const& methods,
                    std::vector<Row>& rows, std::function<bool(Row const&)> const& wanted) {
        std::set<std::string> const known = slow_before(cell);
        std::vector<std::string> without(known.begin(), known.end());
        for (std::string const& method : known)
            if (Row const row =
                    row_without_time(cell, method, "timeout", "not run: it took too long with fewer ranks or blocks");
                wanted(row) && std::find(rows.begin(), rows.end(), row) == rows.end())
                keep(rows, row);
        while (true) {
            bool timed_out = false;
            Ended const ended =
                launch(command_for(cell, program, methods, without), launch_environment(),
                       4 * options_.limit_seconds + 120, [&](std::string const& line) {
                           if (!line.starts_with("{")) return;
                           Row row = Row::parse(line, nullptr, false);
                           if (row.is_discarded()) return;
                           if (row.contains("outcome") && row.at("outcome") == "timeout") {
                               timed_out = true;
                               without.push_back(row.at("method").get<std::string>());
                               slow_.insert({cell.mpi, cell.map, without.back(), cell.ranks, cell.block_bytes});
                           }
                           bool const told = row.contains("outcome") && row.at("outcome") == "refused" &&
                                             std::find(rows.begin(), rows.end(), row) != rows.end();
                           if (!told && wanted(row)) keep(rows, row);
                       });
            if (timed_out && !ended.silent) continue;
            if (ended.code == 0) return 0;
            std::cerr << fmt::format(
                "sluice: {} {} {} {} on {} ranks {}\n{}", program, cell.mpi, cell.map, cell.block_bytes, cell.ranks,
                ended.silent ? "hung and was stopped" : fmt::format("ended with code {}", ended.code),
                ended.complaints);
            return 1;
        }
    }

    bool all_methods() const { return options_.methods == std::vector<std::string>{"all"}; }

    /// Returns the methods of every program that were asked for; empty for all of them.
    std::vector<std::string> own_methods() const {
        std::vector<std::string> own;
        if (all_methods()) return own;
        for (std::string const& method : options_.methods)
            if (peer_with(method) == nullptr) own.push_back(method);
        return own;
    }

    /// `all` means the peers that are built.
    bool is_chosen(Peer const& peer, std::string const& mpi) const {
        if (all_methods()) return program_for(mpi, std::string(peer.program)).has_value();
        return std::find(options_.methods.begin(), options_.methods.end(), peer.method) != options_.methods.end();
    }

    void keep(std::vector<Row>& rows, Row const& row) const {
        rows.push_back(row);
        if (options_.json) std::cout << row.dump() << std::endl;
    }

    struct Slow {
        std::string mpi, map, method;
        int ranks;
        std::uint64_t block_bytes;
        auto operator<=>(Slow const&) const = default;
    };

    /// Returns the methods that took too long with fewer ranks or larger blocks, so with fewer blocks in total.
    std::set<std::string> slow_before(BenchCell const& cell) const {
        std::set<std::string> methods;
        for (Slow const& slow : slow_)
            if (slow.mpi == cell.mpi && slow.map == cell.map && slow.ranks <= cell.ranks &&
                slow.block_bytes >= cell.block_bytes)
                methods.insert(slow.method);
        return methods;
    }

    Row row_without_time(BenchCell const& cell, std::string const& method, std::string const& outcome,
                         std::string const& why) const {
        return Row{{"bench", "redistribute"},
                   {"case", cell.map},
                   {"ranks", cell.ranks},
                   {"block_bytes", cell.block_bytes},
                   {"blocks", (static_cast<std::uint64_t>(options_.mib) << 20) / cell.block_bytes},
                   {"mpi", cell.mpi},
                   {"bed", options_.bed},
                   {"method", method},
                   {"outcome", outcome},
                   {"why", why}};
    }

    std::vector<std::string> command_for(BenchCell const& cell, std::string const& name,
                                         std::vector<std::string> const& methods,
                                         std::vector<std::string> const& without) const {
        std::vector<std::string> command = bed_for(cell);
        for (std::string const& word :
             {bench_program(cell.mpi, name), std::string("--case"), cell.map, std::string("--block"),
              std::to_string(cell.block_bytes), std::string("--mib"), std::to_string(options_.mib),
              std::string("--pairs"), std::to_string(options_.pairs), std::string("--limit"),
              std::to_string(options_.limit_seconds), std::string("--bed"), options_.bed})
            command.push_back(word);
        if (options_.bed == "cluster") command.insert(command.end(), {"--rate", fmt::format("{}", options_.rate_mbit)});
        if (!methods.empty()) command.insert(command.end(), {"--method", fmt::format("{}", fmt::join(methods, ","))});
        if (!without.empty()) command.insert(command.end(), {"--without", fmt::format("{}", fmt::join(without, ","))});
        return command;
    }

    /// Returns the part of the command line that precedes the program.
    std::vector<std::string> bed_for(BenchCell const& cell) const {
        std::string const ranks = std::to_string(cell.ranks);
        if (options_.bed == "cluster")
            return cluster_launcher(cell.mpi, cell.ranks, options_.rate_mbit, options_.nodes);
        if (options_.bed == "simulated") {
            auto const script = bed_script("simulated.sh");
            if (!script) throw std::runtime_error("the script of bed simulated is not next to this command");
            return {script->string(), "-n", ranks};
        }
        return local_launcher(cell.mpi, cell.ranks);
    }

    RedistributeOptions const& options_;
    std::set<Slow> slow_;
};

void add_options(command_line::CommandLine& line, RedistributeOptions& options) {
    line.option("--ranks", options.choice.ranks, "numbers of ranks (2,4,8)").separated_by_commas();
    line.option("--case", options.choice.cases, "next, next20, hotspot, transpose, random, skewed, rebalance (all)")
        .separated_by_commas();
    line.option("--block", options.choice.block_bytes, "block sizes in bytes (64,1024,16000,1048576)")
        .separated_by_commas();
    line.option("--method", options.methods,
                "methods, or 'all' (token,token_shared,auto,alltoallv_warm,alltoallv_lean,copy_limit)")
        .separated_by_commas();
    line.option("--mpi", options.choice.mpis, "openmpi, mpich (those found)").separated_by_commas();
    line.option("--bed", options.bed, "local, cluster or simulated").one_of({"local", "cluster", "simulated"});
    line.option("--rate", options.rate_mbit, "Mbit/s of each wire of bed cluster").positive().shows_default();
    line.option("--nodes", options.nodes, "nodes of bed cluster").between(2, 64).shows_default();
    line.option("--mib", options.mib, "MiB of blocks on each rank").positive().shows_default();
    line.option("--pairs", options.pairs, "rounds after the warm-up; in each, every method runs once")
        .between(1, 1000)
        .shows_default();
    line.option("--launches", options.launches,
                "launches of each cell: shows those that stay slow (1; more: random and transpose, 16000 bytes)")
        .between(1, 10000);
    line.option("--limit", options.limit_seconds, "seconds that one call may take").between(1, 100000).shows_default();
    line.option("--minutes", options.minutes, "begin no cell after this number of minutes; 0: no limit")
        .not_negative()
        .shows_default();
    line.flag("--full", options.choice.full, "every combination, without --minutes, with all methods");
    line.flag("--json", options.json, "one JSON object on each line instead of tables");
}

/// Refuses here, once, the words that each program would refuse.
void check_words(RedistributeOptions const& options) {
    static constexpr std::string_view cases[] = {"next",   "next20", "hotspot",  "transpose",
                                                 "random", "skewed", "rebalance"};
    for (std::string const& name : options.choice.cases)
        if (std::find(std::begin(cases), std::end(cases), name) == std::end(cases)) throw unknown("case", name, cases);
    check_bench_choice(options.choice.mpis, options.choice.ranks);
}

/// What the table of launches compares, and the cells in which slow launches were seen.
void prepare_launches(RedistributeOptions& options) {
    if (!options.methods.empty())
        throw UsageError("--launches compares token with the better of the hand-written exchanges: leave out --method");
    options.methods = {"token", "alltoallv_warm", "alltoallv_lean"};
    if (options.choice.cases.empty()) options.choice.cases = {"random", "transpose"};
    if (options.choice.block_bytes.empty()) options.choice.block_bytes = {16000};
}

}  // namespace

int bench_redistribute(std::vector<std::string> const& arguments) {
    RedistributeOptions options;
    command_line::CommandLine line(
        "sluice bench redistribute",
        "Moves blocks between the arrays of all ranks: this library and the methods that people use today");
    add_options(line, options);
    if (!line.parse(arguments)) return 0;
    check_words(options);
    if (options.launches > 1) prepare_launches(options);
    if (options.choice.full) {
        options.minutes = 0;
        if (options.methods.empty()) options.methods = {"all"};
    }
    if (options.methods.empty())
        options.methods = {"token", "token_shared", "auto", "alltoallv_warm", "alltoallv_lean", "copy_limit"};
    if (options.bed == "cluster" && options.choice.ranks.empty()) options.choice.ranks = {2, 4};
    return RedistributeSweep(options).run(
        plan_cells(options.choice, mpis_with_program(k_redistribute_program, options.bed == "simulated")));
}

}  // namespace sluice::cli
