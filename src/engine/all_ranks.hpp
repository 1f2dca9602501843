// SPDX-License-Identifier: BSD-3-Clause
/// A communicator of the program, on which a Context is made.
#pragma once

#include <mpi.h>

#include "sluice/settings.hpp"

namespace sluice::engine {

/// Collective. Returns `comm` when all its ranks are here. A rank that waits long says so: with the setting
/// waiting_told_after, in one line, which cannot name the missing ranks, because there is nothing of ours to ask them
/// by.
MPI_Comm entered_by_all(MPI_Comm comm, Settings const& settings);

}  // namespace sluice::engine
