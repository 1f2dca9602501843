// SPDX-License-Identifier: BSD-3-Clause
/// Adds up the tables of a Summary: each is sorted by its key, and cut to its bound by keys that are equal on all
/// ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// Returns the earlier of two times; 0 stands for never.
std::uint64_t earlier(std::uint64_t a, std::uint64_t b);

void add_counter_table(std::vector<CounterSum>& into, std::vector<CounterSum> const& from);

void add_comm_table(std::vector<CommSum>& into, std::vector<CommSum> const& from);

}  // namespace sluice::report
