// SPDX-License-Identifier: BSD-3-Clause
/// The start of a job, right after MPI_Init.
///
///     know the job ── account for MPI_Init ── meet the others ── learn from MPI ── services ── agree ── count ── open
///
/// The order is given by what a step needs. MPI_Init is accounted for before anything of ours grows. Nothing goes over
/// the wire before it is known that all ranks run under us. Ranks may have other settings, and services take what they
/// need before the ranks agree on them, so a service that was agreed on starts on every rank. Then all learn whether a
/// rank watches no calls. Our own memory is counted when all of it is there, and calls are watched from then on.
#pragma once

#include "plugin/job/init_call.hpp"
#include "plugin/services/job.hpp"

namespace sluice::plugin {

/// Each rank calls it once; collective if all ranks run under Sluice.
void start_job(Job& job, InitCall const& init);

}  // namespace sluice::plugin
