// SPDX-License-Identifier: BSD-3-Clause
/// What rank 0 says of the whole job: when its process ends, after the other ranks of its node have ended.
///
///     rank 0   MPI_Finalize ── keep ── the program goes on ── exit ── its handlers, destructors ── print
///     rank 1   MPI_Finalize ────────── the program goes on ── exit                                 │ not before its
///     end
///
/// A launcher that passes the lines on may die of them, where `mpirun … | head` has no reader any more, and MPICH's
/// then takes the ranks along: no rank may have results that are not written yet.
#pragma once

#include <string>

#include "record/record_file.hpp"

namespace sluice::plugin {

/// On rank 0, in MPI_Finalize, while the file of its node has its name. The lines are lost if the process ends by
/// _exit, exec or a signal.
void keep_last_words(std::string const& lines, record::RecordFile& file);

/// At the very end of the process: once all is done that exit() does but for closing files. Prints what is kept, if
/// anything is. Waits for the other ranks, but some seconds at most: one of them may wait for the end of this process.
void say_last_words() noexcept;

}  // namespace sluice::plugin
