// SPDX-License-Identifier: BSD-3-Clause
/// A program that hangs: rank 1 is in another call than the others, which the argument names. stuck_test.py ends it.
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/collectives.hpp"
#include "sluice/fetch.hpp"
#include "sluice/redistribute.hpp"

namespace {

void hang(std::string const& call) {
    sluice::Settings settings;
    settings.waiting_told_after = 1;
    sluice::Context context(MPI_COMM_WORLD, settings);
    sluice::Store store(context);
    std::vector<double> numbers(1, 1);
    std::vector<sluice::Destination> const stay{{context.rank(), 0}};
    sluice::redistribute(context, sluice::blocks_of(numbers), stay);
    if (context.rank() != 1) sluice::redistribute(context, sluice::blocks_of(numbers), stay);
    if (call == "MPI_Finalize") MPI_Finalize();
    if (call == "Store::finish") store.finish();
    std::vector<std::int64_t> blocks(static_cast<std::size_t>(context.size()));
    if (call == "all-to-all") sluice::alltoall_in_place(context, blocks);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    hang(argc > 1 ? argv[1] : "");
}
