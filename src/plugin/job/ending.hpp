// SPDX-License-Identifier: BSD-3-Clause
/// The report of a job, gathered from all ranks while MPI still lives.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "plugin/services/running_services.hpp"
#include "record/record.hpp"

namespace sluice::plugin {

/// Collective over `all`, every rank of the job. Rank 0 prints the summary on standard error and, with a folder, writes
/// the files. What cannot be written is said in a line and stops nothing.
void report_at_end(MPI_Comm all, record::RankRecord const& record, std::string const& folder);

/// Collective over `all`. Rank 0 prints what each service has counted on all ranks, a line for each service.
void tell_counters(MPI_Comm all, std::vector<RunningServices::Section> const& sections);

}  // namespace sluice::plugin
