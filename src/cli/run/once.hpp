// SPDX-License-Identifier: BSD-3-Clause
/// The ranks of a job run the same command line, so they make the same mistake.
#pragma once

#include <initializer_list>
#include <string>

namespace sluice::cli {

/// A variable of the environment, if it is there and not empty; else null.
char const* variable(char const* name);

/// The first of these variables that is there, as launchers set them; else null.
char const* first_variable(std::initializer_list<char const*> names);

/// This rank's number in the job, as its launcher tells; null without a launcher.
char const* rank_of_launcher();

/// Prints "sluice: text" on standard error. Of ranks of one node that say the same when they begin, one alone is heard;
/// it takes half a second longer.
void complain(std::string const& text);

}  // namespace sluice::cli
