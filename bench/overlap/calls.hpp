// SPDX-License-Identifier: BSD-3-Clause
/// The MPI functions of the benchmark `overlap`, by one of two ways: as any program calls them, where a preloaded
/// library comes first, and straight in libmpi.
#pragma once

#include <mpi.h>

namespace sluice::bench {

struct OverlapCalls {
    decltype(&MPI_Send) send = nullptr;
    decltype(&MPI_Recv) recv = nullptr;
    decltype(&MPI_Isend) isend = nullptr;
    decltype(&MPI_Irecv) irecv = nullptr;
    decltype(&MPI_Test) test = nullptr;
    decltype(&MPI_Wait) wait = nullptr;
    decltype(&MPI_Waitall) waitall = nullptr;
    decltype(&MPI_Barrier) barrier = nullptr;

    static OverlapCalls of_the_program();
    /// Throws std::runtime_error if libmpi is not among the loaded libraries.
    static OverlapCalls straight();
};

/// The call sites of MPI_Recv, and of MPI_Irecv, that a program may have. Each is a place of its own in the code,
/// because Sluice learns for each call site whether a receive there can be deferred.
constexpr int k_call_sites = 64;

/// Calls `calls.recv` for bytes of tag 0 from that rank, at call site 0 … k_call_sites - 1.
void receive_at(int site, OverlapCalls const& calls, void* buffer, int bytes, int from);
/// The same by `calls.irecv`.
MPI_Request start_at(int site, OverlapCalls const& calls, void* buffer, int bytes, int from);

}  // namespace sluice::bench
