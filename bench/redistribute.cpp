// SPDX-License-Identifier: BSD-3-Clause
// The benchmark `redistribute`: every strategy of the library and the methods that people use today, compared in one
// launch, over the cases of cases.hpp. Prints one JSON object on each line; `sluice bench redistribute` launches it and
// draws the table. Exit code 0; 1 for a wrong result or an error; 75 if a method ran longer than its time limit (after
// a row that names it).
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "cases.hpp"
#include "groups/agree.hpp"
#include "methods/method.hpp"
#include "mpi/mpi.hpp"
#include "sluice/allocate.hpp"
#include "support/labels.hpp"
#include "support/memory.hpp"
#include "support/program.hpp"
#include "support/rounds.hpp"
#include "support/rows.hpp"
#include "support/statistics.hpp"
#include "support/wire.hpp"

namespace sluice::bench {

namespace {

constexpr int k_timeout_exit = 75;

struct Options {
    std::vector<std::string> cases;
    std::vector<std::uint64_t> block_bytes{64, 1024, 16000, 1048576};
    std::vector<std::string> methods;
    std::vector<std::string> without;
    std::uint64_t mib = 80;
    int pairs = 5;
    unsigned limit_seconds = 60;
    std::string bed = "local";
    double rate_mbit = 0;
};

/// The row that is written when time runs out. It is made beforehand, because a signal handler may not allocate.
std::string timeout_cell;
std::string timeout_row;
unsigned timeout_seconds = 0;
bool speaks = false;

extern "C" void on_alarm(int) {
    if (speaks && write(STDOUT_FILENO, timeout_row.data(), timeout_row.size()) < 0) _exit(1);
    _exit(k_timeout_exit);
}

void watch_clock(MethodEntry const* running) {
    if (running == nullptr) {
        alarm(0);
        return;
    }
    timeout_row = timeout_cell;
    timeout_row += "\"method\":\"" + running->name + "\",\"outcome\":\"timeout\"}\n";
    alarm(timeout_seconds);
}

/// Prints the rows of one cell on rank 0. On a bed with a network the rows say how much of the time the network needs.
class CellRows {
  public:
    CellRows(Row cell, std::uint64_t bytes_moved, std::uint64_t bytes_per_rank)
        : cell_(std::move(cell)), bytes_moved_(bytes_moved), bytes_per_rank_(bytes_per_rank) {}

    /// On a bed with a network: the most bytes that one node has to send or receive, and the network's payload rate in
    /// bytes in a second.
    void set_wire(double bytes, double rate) {
        wire_bytes_ = bytes;
        wire_rate_ = rate;
    }

    void print(std::vector<Measured> const& results) const {
        for (Measured const& result : results)
            print_method(result);
        for (Measured const& ours : results)
            if (ours.entry->kind == Kind::ours)
                for (Measured const& theirs : results)
                    if (&ours != &theirs && (theirs.entry->kind != Kind::ours || ours.entry == results.front().entry))
                        print_ratio(ours, theirs, theirs.entry->name);
        Measured const* const best = best_peer(results);
        if (best == nullptr) return;
        for (Measured const& ours : results)
            if (ours.entry->kind == Kind::ours) print_ratio(ours, *best, "alltoallv_best");
    }

    void print_refusal(MethodEntry const& entry, std::string const& why) const {
        Row row = cell_;
        row["method"] = entry.name;
        row["outcome"] = "refused";
        row["why"] = why;
        print_row(row);
    }

  private:
    void print_method(Measured const& result) const {
        Row row = cell_;
        row["method"] = result.entry->name;
        row["seconds"] = spread_row(result.seconds);
        row["processor_seconds"] = spread_row(result.processor_seconds);
        if (result.entry->kind != Kind::bound) {
            row["extra_bytes"] = result.extra_bytes();
            if (result.counted_bytes) row["extra_counted"] = *result.counted_bytes;
            row["extra_resident"] = result.resident_bytes;
            row["extra_standing"] = result.standing_bytes;
        }
        row["bytes_moved"] = bytes_moved_;
        row["bytes_per_rank"] = bytes_per_rank_;
        if (wire_rate_ > 0 && result.entry->kind != Kind::bound)
            row["wire_fraction"] = wire_bytes_ / spread_of(result.seconds).median / wire_rate_;
        row["outcome"] = "ok";
        print_row(row);
    }
    /// The better of the two hand-written exchanges that keep their buffers; null if they were not both measured.
    static Measured const* best_peer(std::vector<Measured> const& results) {
        auto const measured = [&](std::string_view name) {
            auto const found = std::ranges::find_if(results, [&](auto const& one) { return one.entry->name == name; });
            return found == results.end() ? nullptr : &*found;
        };
        Measured const* const warm = measured("alltoallv_warm");
        Measured const* const lean = measured("alltoallv_lean");
        if (warm == nullptr || lean == nullptr) return nullptr;
        return spread_of(warm->seconds).median < spread_of(lean->seconds).median ? warm : lean;
    }
    void print_ratio(Measured const& ours, Measured const& theirs, std::string const& name_of_theirs) const {
        Row row = cell_;
        row["ratio"] = ours.entry->name + "/" + name_of_theirs;
        if (name_of_theirs != theirs.entry->name) row["best"] = theirs.entry->name;
        row["time"] = spread_row(pairwise_ratios(ours.seconds, theirs.seconds));
        if (theirs.entry->kind != Kind::bound && theirs.extra_bytes() > 0)
            row["extra_bytes"] = static_cast<double>(ours.extra_bytes()) / static_cast<double>(theirs.extra_bytes());
        print_row(row);
    }

    Row cell_;
    std::uint64_t bytes_moved_;
    std::uint64_t bytes_per_rank_;
    double wire_bytes_ = 0;
    double wire_rate_ = 0;
};

/// Returns the bytes of the workload that the busiest node sends to or receives from other nodes.
double bytes_on_wires(Workload const& workload) {
    std::vector<double> sent(static_cast<std::size_t>(workload.ranks));
    for (Destination const& to : workload.destinations)
        if (to.rank >= 0)
            sent[static_cast<std::size_t>(to.rank)] += static_cast<double>(workload.blocks.block_bytes.count);
    return busiest_node_bytes(workload.comm, sent);
}

std::vector<MethodEntry const*> chosen_methods(Options const& options) {
    std::vector<MethodEntry const*> chosen;
    auto const is_in = [](std::vector<std::string> const& names, std::string const& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (options.methods.empty()) {
        for (MethodEntry const& entry : methods())
            chosen.push_back(&entry);
    } else {
        for (std::string const& name : options.methods) {
            auto const found =
                std::find_if(methods().begin(), methods().end(), [&](auto const& entry) { return entry.name == name; });
            if (found != methods().end()) {
                chosen.push_back(&*found);
                continue;
            }
            std::string known;
            for (MethodEntry const& entry : methods())
                known += " " + entry.name;
            throw Error(ErrorCode::invalid_argument,
                        "no method of this build is called '" + name + "'; known are" + known);
        }
    }
    std::erase_if(chosen, [&](MethodEntry const* entry) { return is_in(options.without, entry->name); });
    return chosen;
}

/// An array that peers can map, if a method moves one.
struct Shared {
    std::optional<NodeVector<std::byte>> bytes;
    std::byte* data() const { return bytes ? const_cast<std::byte*>(bytes->data()) : nullptr; }
};

/// Collective. On a rank without shared memory the array is missing on all.
Shared shared_array(std::vector<MethodEntry const*> const& chosen, std::uint64_t bytes) {
    if (std::none_of(chosen.begin(), chosen.end(), [](auto const* entry) { return entry->moves_shared; })) return {};
    Context const context(MPI_COMM_WORLD);
    Shared made{allocate<std::byte>(context, bytes)};
    bool const is_private = bytes > 0 && !is_shared(context, made.data());
    return groups::all_true(MPI_COMM_WORLD, !is_private) ? std::move(made) : Shared{};
}

void run_cell(std::string const& case_name, std::uint64_t block_bytes, Options const& options) {
    int const rank = mpi::rank_in(MPI_COMM_WORLD);
    int const ranks = mpi::size_of(MPI_COMM_WORLD);
    std::uint64_t const slots = std::max<std::uint64_t>(1, (options.mib << 20) / block_bytes);
    std::unique_ptr<Case> const map = make_case(case_name, ranks, slots);
    std::uint64_t const own_slots = map->slots(rank);
    std::vector<Destination> destinations(own_slots);
    for (std::uint64_t i = 0; i < own_slots; ++i)
        destinations[i] = map->destination(rank, i);
    Pages const array(own_slots * block_bytes);
    std::vector<MethodEntry const*> const chosen = chosen_methods(options);
    Shared const shared = shared_array(chosen, own_slots * block_bytes);
    Workload const workload{MPI_COMM_WORLD,
                            rank,
                            ranks,
                            *map,
                            {array.data(), own_slots, {block_bytes}},
                            {shared.data(), own_slots, {block_bytes}},
                            destinations};

    Row cell{{"bench", "redistribute"}, {"case", case_name},       {"ranks", ranks},    {"block_bytes", block_bytes},
             {"blocks", slots},         {"mpi", SLUICE_BENCH_MPI}, {"bed", options.bed}};
    if (options.rate_mbit > 0) cell["rate_mbit"] = options.rate_mbit;
    timeout_cell = cell.dump();
    timeout_cell.back() = ',';

    auto const leaving = static_cast<std::uint64_t>(std::count_if(
        destinations.begin(), destinations.end(), [rank](auto const& to) { return to.rank >= 0 && to.rank != rank; }));
    std::uint64_t const live = groups::sum_of(MPI_COMM_WORLD, count_live(*map, rank));
    CellRows rows(cell, groups::most_of(MPI_COMM_WORLD, leaving * block_bytes),
                  live * block_bytes / static_cast<std::uint64_t>(ranks));
    if (options.rate_mbit > 0) rows.set_wire(bytes_on_wires(workload), payload_rate(options.rate_mbit));

    std::vector<MethodEntry const*> able;
    for (MethodEntry const* entry : chosen) {
        std::string const why = entry->refuses(workload);
        if (why.empty()) {
            able.push_back(entry);
        } else if (rank == 0) {
            rows.print_refusal(*entry, why);
        }
    }
    std::vector<Measured> const results = measure_in_turns(workload, able, options.pairs, watch_clock);
    if (rank == 0) rows.print(results);
}

void add_options(command_line::CommandLine& line, Options& options) {
    line.option("--case", options.cases, "cases, separated by commas; all without it").separated_by_commas();
    line.option("--block", options.block_bytes, "block sizes in bytes, separated by commas")
        .separated_by_commas()
        .positive();
    line.option("--method", options.methods, "methods, separated by commas; all without it").separated_by_commas();
    line.option("--without", options.without, "methods to leave out").separated_by_commas();
    line.option("--mib", options.mib, "MiB of blocks on each rank").positive();
    line.option("--pairs", options.pairs, "rounds measured after the warm-up").between(1, 1000);
    line.option("--limit", options.limit_seconds, "seconds that one call of one method may take").positive();
    line.option("--bed", options.bed, "name of the bed, for the rows");
    line.option("--rate", options.rate_mbit, "Mbit/s of the bed's wire; 0: no wire");
}

void run(Options& options) {
    if (options.cases.empty())
        for (CaseEntry const& entry : cases())
            options.cases.emplace_back(entry.name);
    // Only rank 0 prints; the others give it the time for that, and end themselves if the launcher has not ended them.
    speaks = mpi::rank_in(MPI_COMM_WORLD) == 0;
    timeout_seconds = options.limit_seconds + (speaks ? 0 : 5);
    std::signal(SIGALRM, on_alarm);
    for (std::string const& name : options.cases)
        for (std::uint64_t const bytes : options.block_bytes)
            run_cell(name, bytes, options);
}

}  // namespace

}  // namespace sluice::bench

int main(int argc, char** argv) {
    sluice::bench::Options options;
    sluice::command_line::CommandLine line("sluice-bench-redistribute",
                                           "Moves blocks between the arrays of all ranks: this library and others, "
                                           "side by side (one JSON object on each line)");
    sluice::bench::add_options(line, options);
    return sluice::bench::run_program(argc, argv, line, [&] { sluice::bench::run(options); });
}
