// SPDX-License-Identifier: BSD-3-Clause
/// Rows of a benchmark as one JSON object a line, with the field names that all benchmarks share.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace sluice::bench {

/// Insertion order is kept: the cell first, then what was measured.
using Row = nlohmann::ordered_json;

/// {"min": …, "median": …, "max": …}
Row spread_row(std::span<double const> samples);

/// One line on standard output, written at once so that lines of a killed program are whole.
void print_row(Row const& row);

}  // namespace sluice::bench
