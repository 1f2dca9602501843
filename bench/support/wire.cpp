// SPDX-License-Identifier: BSD-3-Clause
#include "support/wire.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "mpi/mpi.hpp"

namespace sluice::bench {

double payload_rate(double rate_mbit) {
    // The shaper counts the 1514 bytes of an Ethernet frame, of which 1448 are payload of TCP with timestamps.
    return rate_mbit * 1e6 / 8 * 1448 / 1514;
}

double busiest_node_bytes(MPI_Comm comm, std::span<double const> sent) {
    mpi::Communicator const node = mpi::Communicator::of_node(comm);
    int leader = mpi::rank_in(comm);
    mpi::check(MPI_Bcast(&leader, 1, MPI_INT, 0, node.get()), "MPI_Bcast");
    std::vector<int> node_of(sent.size());
    mpi::check(MPI_Allgather(&leader, 1, MPI_INT, node_of.data(), 1, MPI_INT, comm), "MPI_Allgather");
    std::vector<double> out_in(2 * sent.size(), 0.0);
    for (std::size_t rank = 0; rank < sent.size(); ++rank) {
        if (node_of[rank] == leader) continue;
        out_in[2 * static_cast<std::size_t>(leader)] += sent[rank];
        out_in[2 * static_cast<std::size_t>(node_of[rank]) + 1] += sent[rank];
    }
    mpi::check(MPI_Allreduce(MPI_IN_PLACE, out_in.data(), static_cast<int>(out_in.size()), MPI_DOUBLE, MPI_SUM, comm),
               "MPI_Allreduce");
    return *std::max_element(out_in.begin(), out_in.end());
}

}  // namespace sluice::bench
