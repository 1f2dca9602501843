// SPDX-License-Identifier: BSD-3-Clause
/// Adds up the tables of a Summary: each is sorted by its key, and cut to its bound by keys that are equal on all
/// ranks.
#pragma once

#include <vector>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// Adds all fields but the spreads.
void add_plain_figures(SiteSum& into, SiteSum const& from);

void add_counter_table(std::vector<CounterSum>& into, std::vector<CounterSum> const& from);

void add_comm_table(std::vector<CommSum>& into, std::vector<CommSum> const& from);

}  // namespace sluice::report
