// SPDX-License-Identifier: BSD-3-Clause
/// The ranks that take part in one collective call, and the communicator of its messages. Constant size.
#pragma once

#include <mpi.h>

namespace sluice::groups {

/// Messages go point-to-point over `comm`, which contains all members and perhaps others, with `tag` alone. Two calls
/// whose messages could meet (same comm, overlapping in time, two members in common) need different tags; calls of the
/// same members one after the other may share one.
struct Members {
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0;  ///< of the caller, among the members
    int size = 1;
    int tag = 0;

    /// Member i is rank `first` + i × `stride` of `comm` or, if `translate` is given, the rank that it returns. `who`
    /// is passed to `translate` and must live as long as the call.
    int first = 0;
    int stride = 1;
    int (*translate)(void const* who, int member) = nullptr;
    void const* who = nullptr;

    int in_comm(int member) const { return translate != nullptr ? translate(who, member) : first + member * stride; }
};

}  // namespace sluice::groups
