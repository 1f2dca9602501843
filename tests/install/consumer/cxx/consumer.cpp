// SPDX-License-Identifier: BSD-3-Clause
// Sends each block to the next rank and says whether it arrived.
#include <mpi.h>

#include <cstdio>
#include <span>
#include <vector>

#include <sluice/redistribute.hpp>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int wrong = 0;
    {
        sluice::Context context(MPI_COMM_WORLD);
        constexpr int count = 1000;
        std::vector<long> blocks;
        std::vector<sluice::Destination> destinations;
        for (int i = 0; i < count; ++i) {
            blocks.push_back(context.rank() * count + i);
            destinations.push_back({(context.rank() + 1) % context.size(), count - 1 - i});
        }
        sluice::redistribute(context, sluice::blocks_of(std::span(blocks)), destinations);

        int const from = (context.rank() + context.size() - 1) % context.size();
        for (int i = 0; i < count; ++i)
            wrong += blocks[static_cast<std::size_t>(count - 1 - i)] != from * count + i;
        std::printf("rank %d of %d: %d of %d blocks are wrong\n", context.rank(), context.size(), wrong, count);
    }
    MPI_Finalize();
    return wrong != 0;
}
