// SPDX-License-Identifier: BSD-3-Clause
/// Cases that make sense only from a number of ranks on. With fewer ranks they are not run and not counted: a case that
/// skips itself would look as if this machine lacked something.
#pragma once

#include <string>

namespace sluice::tests {

/// Stores the entry until main knows how many ranks there are. `name` is Suite.case; the return value has no meaning.
bool needs_ranks(std::string name, int least);

/// Excludes the cases that need more than `ranks`, by GoogleTest's filter. Returns an empty text, or what is wrong: a
/// name that no case has, or more ranks than the program is ever started with (SLUICE_TEST_MOST_RANKS in the
/// environment).
std::string leave_out_cases_of_more_ranks(int ranks);

}  // namespace sluice::tests

/// Goes before TEST, TEST_F or TEST_P of the same two names.
#define SLUICE_NEEDS_RANKS(least, suite, name) \
    [[maybe_unused]] static bool const suite##_##name##_needs = sluice::tests::needs_ranks(#suite "." #name, least)
