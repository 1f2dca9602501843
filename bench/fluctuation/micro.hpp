// SPDX-License-Identifier: BSD-3-Clause
/// What tasks and fetches cost by themselves.
#pragma once

#include <vector>

#include "support/rows.hpp"

namespace sluice::bench {

/// Collective; needs at least two ranks, and further ranks do nothing. Returns rows with the methods
///   task_switch      seconds from one task's co_await to the next one's going on
///   fetch_8_bytes    seconds from a task's co_await of 8 bytes of another rank, which are published, to its going on
///   tasks_ready      extra_bytes: heap of a task that waits for its turn, in addition to its coroutine's frame
///   tasks_fetching   the same for a task that waits for 8 bytes which the other rank has not published yet
/// Takes `pairs` samples of each time. Throws Error(invalid_argument) with one rank.
std::vector<Row> micro_rows(Row const& cell, int pairs);

}  // namespace sluice::bench
