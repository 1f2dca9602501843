// SPDX-License-Identifier: BSD-3-Clause
/// Draws the rows of a benchmark for people: one block of lines for each cell.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sluice::cli {

using Row = nlohmann::ordered_json;

/// "random · 4 ranks · 5000 blocks of 16000 bytes a rank · openmpi · bed local", from any row of a cell.
std::string redistribute_title(Row const& row);
/// Draws the rows of one cell of `redistribute` (see docs/benchmarks.md): methods in their order in the output, each
/// with its ratio to our first one; then our ratios to the better of the hand-written exchanges that keep their
/// buffers.
std::string redistribute_table(std::vector<Row> const& rows);

/// Draws the rows of one launch of `inplace`: a line for each number of bytes.
std::string inplace_table(std::vector<Row> const& rows);

}  // namespace sluice::cli
