// SPDX-License-Identifier: BSD-3-Clause
/// The rows of the benchmark `fluctuation`; docs/benchmarks.md says what their fields mean.
#pragma once

#include <vector>

#include "fluctuation/relaxation.hpp"
#include "support/rows.hpp"

namespace sluice::bench {

/// One row for each method, one for its ratio to at_once (or, where that is not among them, to the first), and where
/// both parts of a step were measured alone, how much of the shorter one each method hid. `cell` is what all rows begin
/// with.
std::vector<Row> fluctuation_rows(Row const& cell, RelaxationPlan const& plan,
                                  std::vector<MeasuredMethod> const& results);

}  // namespace sluice::bench
