// SPDX-License-Identifier: BSD-3-Clause
/// The ranks of a job run the same command line, so they all make the same mistake: only one reports it.
#pragma once

#include <string>

namespace sluice::cli {

/// Prints "sluice: text" on standard error. Of the ranks of one node that print the same when they begin, only one is
/// heard; this takes half a second longer.
void complain(std::string const& text);

}  // namespace sluice::cli
