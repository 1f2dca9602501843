// SPDX-License-Identifier: BSD-3-Clause
/// Checks of MPI return codes, in one place, and owners for MPI handles.
#pragma once

#include <mpi.h>

#include <utility>

namespace sluice::mpi {

/// Throws Error(mpi) with MPI's own text when `code` is not MPI_SUCCESS. `call` names the MPI function.
void check(int code, char const* call);

/// False before MPI_Init and from the end of MPI_Finalize on.
bool is_running();
/// Returns `comm`. Throws Error(invalid_argument) if MPI is not running, or if `comm` is MPI_COMM_NULL or an
/// inter-communicator; `object` is what shall be made on it, "a Context".
MPI_Comm usable(MPI_Comm comm, char const* object);

/// Owns a communicator. Freed when it dies, unless MPI is already finalized.
class Communicator {
  public:
    Communicator() = default;
    explicit Communicator(MPI_Comm owned) noexcept : comm_(owned) {}
    Communicator(Communicator&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
    Communicator& operator=(Communicator&& other) noexcept {
        std::swap(comm_, other.comm_);
        return *this;
    }
    ~Communicator();

    /// Returns a private twin of `comm` by group creation; its errors are returned, not fatal. Collective.
    static Communicator twin_of(MPI_Comm comm);
    /// Returns the ranks of `comm` that can share memory with the caller, by rank. Collective.
    static Communicator of_node(MPI_Comm comm);

    MPI_Comm get() const noexcept { return comm_; }
    explicit operator bool() const noexcept { return comm_ != MPI_COMM_NULL; }

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Owns a window of shared memory.
class SharedWindow {
  public:
    SharedWindow() = default;
    explicit SharedWindow(MPI_Win owned) noexcept : win_(owned) {}
    SharedWindow(SharedWindow&& other) noexcept : win_(std::exchange(other.win_, MPI_WIN_NULL)) {}
    SharedWindow& operator=(SharedWindow&& other) noexcept {
        std::swap(win_, other.win_);
        return *this;
    }
    ~SharedWindow();
    MPI_Win get() const noexcept { return win_; }

  private:
    MPI_Win win_ = MPI_WIN_NULL;
};

/// MPI_Test without a status. A null request is complete, also under SMPI 3.32, whose MPI_Test says so only if it gets
/// a status.
bool is_complete(MPI_Request& request);

int rank_in(MPI_Comm comm);
int size_of(MPI_Comm comm);

}  // namespace sluice::mpi
