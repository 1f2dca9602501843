// SPDX-License-Identifier: BSD-3-Clause
/// A program that ends and whose call of MPI_Init the plugin has not seen. `sluice run` was asked to watch it, so the
/// reason is said, if it can be known that there was something to watch or that a report was expected.
///
///     MPI_Session_init                              said by the process that called it
///     libmpi loaded and initialised, no wrapper     the program calls it through a handle   ┐ said by the process that
///     an MPI in the program's own file              linked statically                       │ `sluice run` became:
///     none of these, --report, no record            no call of MPI_Init was seen            ┘ others inherit the
///     preload
///
/// A program without MPI and without --report ends in silence.
#pragma once

namespace sluice::plugin {

/// In a destructor of the plugin. One rank of a node speaks. Never throws.
void note_unwatched() noexcept;

}  // namespace sluice::plugin
