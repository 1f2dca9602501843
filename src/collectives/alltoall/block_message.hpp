// SPDX-License-Identifier: BSD-3-Clause
/// A block as one message in the caller's own datatype, also if it has more elements than an int can count.
#pragma once

#include <mpi.h>

#include "collectives/alltoall/algorithm.hpp"

namespace sluice::collectives {

/// Starts the message with the block for `member`.
void send_block(Problem const& problem, int member, int tag, MPI_Request& request);
/// Starts to receive the block from `member`.
void receive_block(Problem const& problem, int member, int tag, MPI_Request& request);

}  // namespace sluice::collectives
