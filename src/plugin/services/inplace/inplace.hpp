// SPDX-License-Identifier: BSD-3-Clause
/// All-to-alls in place of unmodified programs, served by src/collectives.
#pragma once

#include <mpi.h>

#include "plugin/watch/watch.hpp"
#include "sluice/settings.hpp"

namespace sluice::plugin {

/// Puts itself into the hooks of MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw. `all`: every rank of the job, and all
/// of them call this; a communicator whose members agreed on an id is served over it, with a tag of its own. What is no
/// in-place call, or on another communicator, passes.
void serve_alltoalls_in_place(MPI_Comm all, Settings const& settings);

/// No call is served any more; collective over all ranks, whose memory may be touched no longer.
void stop_serving_alltoalls();

}  // namespace sluice::plugin
