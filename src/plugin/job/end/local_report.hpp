// SPDX-License-Identifier: BSD-3-Clause
/// The report of a job whose ranks are all on one node. Their records are in one file, so no message is needed:
///
///     each rank    record complete ── written += 1 ── MPI_Finalize ──>
///     rank 0       ... the same ... waits for all ── `sluice report --at-end` reads the file, writes ──>
///                                                          and prints when its process ends (last_words.hpp)
///
/// The report takes a few MiB, which are the command's. Where the command cannot run, rank 0 takes them itself.
#pragma once

#include <string>

#include "plugin/services/job.hpp"

namespace sluice::plugin {

/// All ranks find the same.
bool is_on_one_node(Job& job);
/// The record of this rank is complete.
void note_written(record::NodeHeader& node) noexcept;
/// On rank 0, after MPI_Finalize. Writes the files, and returns the lines to print; what cannot be written is said in
/// one of them and stops nothing.
std::string report_of_node(Job& job);

}  // namespace sluice::plugin
