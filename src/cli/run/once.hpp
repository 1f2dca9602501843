// SPDX-License-Identifier: BSD-3-Clause
/// The ranks of a job run the same command line, so they make the same mistake.
#pragma once

#include <string>

namespace sluice::cli {

/// Prints "sluice: text" on standard error. Of ranks of one node that say the same when they begin, one alone is heard;
/// it takes half a second longer.
void complain(std::string const& text);

}  // namespace sluice::cli
