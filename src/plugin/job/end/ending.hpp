// SPDX-License-Identifier: BSD-3-Clause
/// The report of a job, gathered from all ranks while MPI still lives.
#pragma once

#include <mpi.h>

#include <string>

#include "record/record.hpp"
#include "sluice/settings.hpp"

namespace sluice::plugin {

/// Collective over `all`, every rank of the job. Rank 0 writes the files, if there is a folder, and returns the lines
/// to print: the summary, or with the setting `watch` off only what services counted. What cannot be written is said in
/// one of them and stops nothing. The other ranks return nothing.
std::string report_at_end(MPI_Comm all, record::RankRecord const& record, Settings const& settings);

}  // namespace sluice::plugin
