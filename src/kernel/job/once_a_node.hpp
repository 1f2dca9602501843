// SPDX-License-Identifier: BSD-3-Clause
/// Ranks of a job meet the same trouble at the same time; one of them speaks for those of its node.
#pragma once

#include <string_view>

namespace sluice::kernel {

/// True in the first rank of this job on this node that asks with this text, until its process ends or forgets it; true
/// everywhere if the system cannot tell. Keeps a descriptor open for a text whose first rank this is. One thread calls
/// both functions.
bool is_first_to_say(std::string_view text) noexcept;

/// Closes these descriptors, unless the program has closed them already: once all ranks have said what they say, and in
/// a child of fork(), where they are copies.
void forget_what_was_said() noexcept;

}  // namespace sluice::kernel
