// SPDX-License-Identifier: BSD-3-Clause
/// What tasks and fetches cost by themselves.
#pragma once

#include <vector>

#include "support/rows.hpp"

namespace sluice::bench {

/// Collective; wants two ranks at least, the others look on. Rows with the methods
///   task_switch      seconds from one task's co_await to the next one's going on
///   fetch_8_bytes    seconds from a task's co_await of 8 bytes of another rank, which are published, to its going on
///   tasks_ready      extra_bytes: heap of a task that waits for its turn, beside its coroutine's frame
///   tasks_fetching   the same of one that waits for 8 bytes which the other rank has not published yet
/// `pairs` samples of each time. Throws Error(invalid_argument) with one rank.
std::vector<Row> micro_rows(Row const& cell, int pairs);

}  // namespace sluice::bench
