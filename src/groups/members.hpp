// SPDX-License-Identifier: BSD-3-Clause
/// The ranks that take part in one collective call, and the communicator of its messages. Constant size.
#pragma once

#include <mpi.h>

#include "groups/rank_map.hpp"

namespace sluice::groups {

/// Messages go point-to-point over `comm`, which contains all members and perhaps others, with the tag `tag` only. Two
/// calls whose messages could meet (same comm, overlapping in time, two members in common) need different tags; calls
/// of the same members one after the other may share one.
struct Members {
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0;  ///< of the caller, among the members
    int size = 1;
    int tag = 0;

    /// Ranks of `comm`; what it refers to must live as long as the call.
    RankMap in_comm;
};

}  // namespace sluice::groups
