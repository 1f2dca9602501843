// SPDX-License-Identifier: BSD-3-Clause
/// Ranks of a job meet the same trouble at the same time; one of them speaks for those of its node.
#pragma once

#include <string_view>

namespace sluice::kernel {

/// True in the first rank of this job on this node that asks with this text, until its process ends; true everywhere if
/// the system cannot tell. Keeps a descriptor open.
bool is_first_to_say(std::string_view text) noexcept;

}  // namespace sluice::kernel
