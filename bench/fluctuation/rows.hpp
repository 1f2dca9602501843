// SPDX-License-Identifier: BSD-3-Clause
/// The rows of the benchmark `fluctuation`; docs/benchmarks.md says what their fields mean.
#pragma once

#include <vector>

#include "fluctuation/relaxation.hpp"
#include "support/rows.hpp"

namespace sluice::bench {

/// Returns one row for each method and one for its ratio to at_once (or to the first method, if at_once is not among
/// them). If both parts of a step were measured alone, there is also a row with the share of the shorter part that each
/// method hid. `cell` is what all rows begin with.
std::vector<Row> fluctuation_rows(Row const& cell, RelaxationPlan const& plan,
                                  std::vector<MeasuredMethod> const& results);

}  // namespace sluice::bench
