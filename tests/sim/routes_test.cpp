// SPDX-License-Identifier: BSD-3-Clause
// The simulator's routes on the 4x4x4 torus are the dimension-order routes worked out by hand, so the lower bounds
// computed from both are equal. This is a program of its own and not a GoogleTest, because its 64 ranks are threads of
// one process.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

#include "madre/simulated_routes.hpp"
#include "support/torus.hpp"

namespace {

bool same_length(sluice::bench::Routes const& simulated, sluice::test::Torus& by_hand) {
    for (int from = 0; from < 64; ++from)
        for (int to = 0; to < 64; ++to)
            if (from != to && simulated(from, to).size() != by_hand(from, to).size()) {
                std::printf("from %d to %d: %zu links, expected %zu\n", from, to, simulated(from, to).size(),
                            by_hand(from, to).size());
                return false;
            }
    return true;
}

bool same_bounds(sluice::bench::Routes const& simulated, sluice::test::Torus const& by_hand) {
    for (int number = 1; number <= 5; ++number) {
        sluice::bench::Experiment const experiment(number, 64, 64);
        double const found = lower_bound(experiment, 16000, simulated).link_seconds;
        double const expected = lower_bound(experiment, 16000, by_hand).link_seconds;
        if (found < expected * (1 - 1e-9) || found > expected * (1 + 1e-9)) {
            std::printf("experiment %d: bound of the links %g s, expected %g s\n", number, found, expected);
            return false;
        }
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bool good = true;
    {
        sluice::bench::Routes const simulated = sluice::bench::simulated_routes();
        sluice::test::Torus by_hand({4, 4, 4}, 150e6);
        if (rank == 0) good = same_length(simulated, by_hand) && same_bounds(simulated, by_hand);
    }
    MPI_Finalize();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
