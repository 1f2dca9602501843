// SPDX-License-Identifier: BSD-3-Clause
/// The ranks of a job run the same command line, so they all make the same mistake: only one reports it.
#pragma once

#include <string>

namespace sluice::cli {

/// Prints "sluice: text" on standard error as one line without control characters. Never ends the process.
void tell(std::string const& text);

/// Does the same. Of the ranks of one node that complain of the same when they begin, only one is heard; this takes
/// half a second longer.
void complain(std::string const& text);

}  // namespace sluice::cli
