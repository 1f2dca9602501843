// SPDX-License-Identifier: BSD-3-Clause
/// The MPI library's own call.
#include <vector>

#include "collectives/alltoall/algorithm.hpp"
#include "mpi/mpi.hpp"

namespace sluice::collectives {

namespace {

/// Counts and displacements as MPI's functions of 32 bits take them.
std::vector<int> narrow(NumberList const& numbers, int size) {
    std::vector<int> made(static_cast<std::size_t>(size));
    for (int member = 0; member < size; ++member)
        made[static_cast<std::size_t>(member)] = static_cast<int>(numbers.at(member));
    return made;
}

void run_plain_v(Problem const& problem) {
    std::vector<int> const send_counts = narrow(problem.from.counts, problem.size);
    std::vector<int> const send_places = narrow(problem.from.displacements, problem.size);
    std::vector<int> const receive_counts = narrow(problem.to.counts, problem.size);
    std::vector<int> const receive_places = narrow(problem.to.displacements, problem.size);
    mpi::check(
        MPI_Alltoallv(problem.from.buffer, send_counts.data(), send_places.data(), problem.from.type, problem.to.buffer,
                      receive_counts.data(), receive_places.data(), problem.to.type, problem.comm),
        "MPI_Alltoallv");
}

}  // namespace

void run_plain(Problem const& problem, AlltoallOutcome& outcome) {
    outcome.kept += Bytes{problem.bytes_to(problem.rank)};
    if (problem.from.layout != Blocks::Layout::in_order) return run_plain_v(problem);
    mpi::check(
        MPI_Alltoall(problem.from.buffer, static_cast<int>(problem.from.counts.at(0)), problem.from.type,
                     problem.to.buffer, static_cast<int>(problem.to.counts.at(0)), problem.to.type, problem.comm),
        "MPI_Alltoall");
}

}  // namespace sluice::collectives
