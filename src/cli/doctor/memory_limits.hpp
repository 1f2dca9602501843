// SPDX-License-Identifier: BSD-3-Clause
/// The part of memory_limits.cpp that can be tested with made-up limits.
#pragma once

#include "cli/doctor/finding.hpp"
#include "sluice/budget.hpp"

namespace sluice::cli {

/// Returns one finding for each limit and one for the least.
Findings explain_memory_limits(std::vector<MemoryLimit> const& limits);

}  // namespace sluice::cli
