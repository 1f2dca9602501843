// SPDX-License-Identifier: BSD-3-Clause
/// The MPI functions that the exchanges call, by one of two ways, and counts how often each was called.
///
///     program ── MPI_X ── whatever stands between (a preloaded plugin) ──> libmpi      Calls::of_the_program
///        └────── PMPI_X of libmpi itself ───────────────────────────────> libmpi      Calls::straight
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>

namespace sluice::bench {

class Calls {
  public:
    enum Name { send_call, recv_call, isend_call, irecv_call, waitall_call, allreduce_call, barrier_call, k_names };
    static char const* name_of(std::size_t which);

    /// Calls MPI as any program does: a preloaded library comes first.
    static Calls of_the_program();
    /// Calls libmpi directly, past any preloaded library. Throws std::runtime_error if libmpi is not among the loaded
    /// libraries.
    static Calls straight();

    void send(void const* buffer, int bytes, int to) {
        ++counts_[send_call];
        send_(buffer, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD);
    }
    void recv(void* buffer, int bytes, int from) {
        ++counts_[recv_call];
        recv_(buffer, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    void isend(void const* buffer, int bytes, int to, int tag, MPI_Request* request) {
        ++counts_[isend_call];
        isend_(buffer, bytes, MPI_CHAR, to, tag, MPI_COMM_WORLD, request);
    }
    void irecv(void* buffer, int bytes, int from, int tag, MPI_Request* request) {
        ++counts_[irecv_call];
        irecv_(buffer, bytes, MPI_CHAR, from, tag, MPI_COMM_WORLD, request);
    }
    void waitall(int count, MPI_Request* requests) {
        ++counts_[waitall_call];
        waitall_(count, requests, MPI_STATUSES_IGNORE);
    }
    void allreduce(void const* from, void* to, int count, MPI_Datatype type, MPI_Op operation) {
        ++counts_[allreduce_call];
        allreduce_(from, to, count, type, operation, MPI_COMM_WORLD);
    }
    void barrier() {
        ++counts_[barrier_call];
        barrier_(MPI_COMM_WORLD);
    }

    std::array<std::uint64_t, k_names> const& counts() const { return counts_; }

  private:
    Calls() = default;

    decltype(&MPI_Send) send_ = nullptr;
    decltype(&MPI_Recv) recv_ = nullptr;
    decltype(&MPI_Isend) isend_ = nullptr;
    decltype(&MPI_Irecv) irecv_ = nullptr;
    decltype(&MPI_Waitall) waitall_ = nullptr;
    decltype(&MPI_Allreduce) allreduce_ = nullptr;
    decltype(&MPI_Barrier) barrier_ = nullptr;
    std::array<std::uint64_t, k_names> counts_{};
};

}  // namespace sluice::bench
