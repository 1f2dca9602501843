// SPDX-License-Identifier: BSD-3-Clause
/// The program's handle of a nonblocking receive that MPI does not have yet, or has with other pages: a generalized
/// request, so every call of MPI that takes requests takes it, and Fortran's bindings can convert it.
#pragma once

#include <mpi.h>

#include "plugin/services/overlap/deferred_receive.hpp"

namespace sluice::plugin {

// All in the turn, or while nothing is under way.

/// Sets `receive.ticket`, which MPI clears when the program has completed or freed the request. Gives MPI's error code.
int make_ticket(DeferredReceive& receive) noexcept;
/// From now on MPI tells the program that the receive is complete, with `receive.status` and `receive.code`.
void complete_ticket(DeferredReceive& receive) noexcept;

}  // namespace sluice::plugin
