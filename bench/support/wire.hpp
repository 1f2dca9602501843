// SPDX-License-Identifier: BSD-3-Clause
/// What the wires between the nodes of the cluster bed must carry, and can.
#pragma once

#include <mpi.h>

#include <span>

namespace sluice::bench {

/// Returns the bytes of payload that a wire of `rate_mbit` Mbit/s carries in a second, by TCP.
double payload_rate(double rate_mbit);

/// Returns the bytes that the busiest node sends to or receives from other nodes, the same on all ranks. `sent` has the
/// bytes that this rank sends to each rank of `comm`. A node is a set of ranks that can share memory. Collective.
double busiest_node_bytes(MPI_Comm comm, std::span<double const> sent);

}  // namespace sluice::bench
