// SPDX-License-Identifier: BSD-3-Clause
/// The report of a job, gathered from all ranks while MPI still lives.
#pragma once

#include <mpi.h>

#include "record/record.hpp"
#include "sluice/settings.hpp"

namespace sluice::plugin {

/// Collective over `all`, every rank of the job. Rank 0 prints the summary on standard error and, with a folder, writes
/// the files; with the setting `watch` off it prints only what services counted. What cannot be written is said in a
/// line and stops nothing.
void report_at_end(MPI_Comm all, record::RankRecord const& record, Settings const& settings);

}  // namespace sluice::plugin
