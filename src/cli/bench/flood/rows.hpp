// SPDX-License-Identifier: BSD-3-Clause
/// The rows of `sluice bench flood`: one for each method, and their ratio.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/bench/table.hpp"

namespace sluice::cli {

/// What is measured by the launches of one cell.
struct FloodPlace {
    std::string mpi;
    std::string bed;
    std::string name;  ///< of the case
    std::uint64_t bytes;
    int ranks;
};

/// What one launch has told.
struct FloodSample {
    double seconds = 0;
    std::uint64_t messages = 0;
    std::uint64_t grown = 0;  ///< bytes, of the rank that grew most
};
using FloodSeries = std::vector<FloodSample>;

/// Reads a line of the program; nothing for another line.
std::optional<FloodSample> flood_sample(std::string const& line);

/// Of floods that only ran under flood control.
Row flood_row(FloodPlace const& place, FloodSeries const& controlled);
/// The n-th launches of both were in turn.
std::vector<Row> flood_rows(FloodPlace const& place, FloodSeries const& plain, FloodSeries const& controlled);

/// The head of the table, and the line of one cell.
std::string flood_head();
std::string flood_line(std::vector<Row> const& rows);

}  // namespace sluice::cli
