// SPDX-License-Identifier: BSD-3-Clause
/// Rows of a benchmark as one JSON object on each line, with the field names that all benchmarks share.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace sluice::bench {

/// Insertion order is kept: the cell comes first, then the measurements.
using Row = nlohmann::ordered_json;

/// Returns {"min": …, "median": …, "max": …}.
Row spread_row(std::span<double const> samples);

/// Prints one line on standard output and flushes it, so that the lines of a killed program are whole.
void print_row(Row const& row);

}  // namespace sluice::bench
