// SPDX-License-Identifier: BSD-3-Clause
/// One point of MADRE's Figure 3 on a simulated machine: the real library on simulated ranks and links, next to the
/// lower bound.
///
///   sluice-bench-madre --experiment K [--blocks M] [--free F] [--block-bytes B] [--method NAME[,NAME…]] [--staging
///   BYTES]
///                      [--platform NAME]
///
/// Prints one JSON object on each line. Every block names its origin; a wrong block ends the run with an error.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "groups/agree.hpp"
#include "madre/block_mark.hpp"
#include "madre/experiment.hpp"
#include "madre/lower_bound.hpp"
#include "madre/options.hpp"
#include "madre/rows.hpp"
#include "madre/simulated_routes.hpp"
#include "mpi/mpi.hpp"
#include "sluice/redistribute.hpp"

namespace sluice::bench {

namespace {

/// Returns the payload rate of one link in this simulation, measured by one long message to a neighbour.
double measured_link_rate() {
    constexpr int k_bytes = 8 << 20;
    int const rank = mpi::rank_in(MPI_COMM_WORLD);
    double rate = 0;
    mpi::check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    if (rank < 2) {
        std::vector<char> message(k_bytes);
        double const start = MPI_Wtime();
        if (rank == 0) {
            mpi::check(MPI_Send(message.data(), k_bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD), "MPI_Send");
        } else {
            mpi::check(MPI_Recv(message.data(), k_bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                       "MPI_Recv");
            rate = k_bytes / (MPI_Wtime() - start);
        }
    }
    mpi::check(MPI_Bcast(&rate, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD), "MPI_Bcast");
    return rate;
}

/// All simulated ranks have the same clock, so the first start and the last end bound the whole operation.
double longest_of_all(double start, double end) {
    double range[2] = {-start, end};
    mpi::check(MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
    return range[0] + range[1];
}

Outcome run(Context& context, Experiment const& experiment, Options const& options, Strategy strategy) {
    int const rank = context.rank();
    std::vector<std::byte> array(experiment.blocks() * options.block_bytes);
    std::vector<Destination> destinations;
    for (std::uint64_t block = 0; block < experiment.live(rank); ++block) {
        mark_block({array.data() + block * options.block_bytes, options.block_bytes}, rank, block);
        destinations.push_back(experiment.destination(rank, block));
    }
    mpi::check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    double const start = MPI_Wtime();
    RedistributionReport const report =
        redistribute(context, {array.data(), experiment.blocks(), {options.block_bytes}}, destinations,
                     {.strategy = strategy, .staging = options.staging});
    Outcome outcome;
    outcome.seconds = longest_of_all(start, MPI_Wtime());
    outcome.steps = report.steps;
    outcome.rounds = groups::most_of(MPI_COMM_WORLD, report.rounds);
    outcome.extra_bytes = groups::most_of(MPI_COMM_WORLD, report.extra_peak.count);
    outcome.bytes_moved = groups::sum_of(MPI_COMM_WORLD, report.bytes_sent.count);
    outcome.blocks_arrived =
        groups::sum_of(MPI_COMM_WORLD, check_arrivals(experiment, rank, array, options.block_bytes));
    std::uint64_t const expected = groups::sum_of(MPI_COMM_WORLD, experiment.live(rank));
    if (outcome.blocks_arrived != expected)
        throw Error(ErrorCode::internal, "experiment " + std::to_string(experiment.number()) + " by " +
                                             std::string(name_of(strategy)) + ": " + std::to_string(expected) +
                                             " blocks should have arrived, " + std::to_string(outcome.blocks_arrived) +
                                             " did");
    return outcome;
}

void bench(Options const& options) {
    Context context(MPI_COMM_WORLD);
    Experiment const experiment(options.experiment, context.size(), options.blocks, options.free_blocks);
    double const link_rate = measured_link_rate();
    Routes const routes = simulated_routes();
    LowerBound bound;
    if (context.rank() == 0) {
        bound = lower_bound(experiment, options.block_bytes, routes);
        print_bound(options, experiment, bound, link_rate);
    }
    for (std::string const& method : options.methods) {
        Outcome const outcome = run(context, experiment, options, strategy_named(method));
        if (context.rank() == 0) print_outcome(options, experiment, method, outcome, bound);
    }
}

}  // namespace
}  // namespace sluice::bench

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int code = EXIT_SUCCESS;
    try {
        sluice::bench::bench(sluice::bench::Options::from_arguments({argv + 1, static_cast<std::size_t>(argc - 1)}));
    } catch (std::exception const& error) {
        std::fprintf(stderr, "sluice-bench-madre: %s\n", error.what());
        code = EXIT_FAILURE;
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    MPI_Finalize();
    return code;
}
