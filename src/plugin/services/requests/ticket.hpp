// SPDX-License-Identifier: BSD-3-Clause
/// A handle for the program that stands for requests of a service: a generalized request, so MPI gives the same handle
/// to nothing else, and Fortran's bindings can convert it. Only Sluice completes it.
#pragma once

#include <mpi.h>

namespace sluice::plugin {

/// Starts a ticket whose status is empty, as that of a send is. Returns MPI's code.
int start_ticket(MPI_Request& ticket) noexcept;

/// A ticket that is given back when it goes; no program sees its status.
class Ticket {
  public:
    /// Throws Error(mpi).
    Ticket();
    Ticket(Ticket const&) = delete;
    Ticket& operator=(Ticket const&) = delete;
    /// From now on MPI may give the handle to another request.
    ~Ticket();

    MPI_Request handle() const noexcept { return handle_; }

  private:
    MPI_Request handle_ = MPI_REQUEST_NULL;
};

}  // namespace sluice::plugin
