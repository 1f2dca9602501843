// SPDX-License-Identifier: BSD-3-Clause
/// What the program sluice-bench-overhead prints, and the rows and tables that are made of it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sluice::cli {

/// Measurements of one exchange, over any number of launches. Seconds of a message or a step.
struct OverheadCell {
    std::string name;
    std::uint64_t bytes = 0;
    std::vector<double> launches;                   ///< one of each launch
    std::vector<std::pair<double, double>> blocks;  ///< as a program calls MPI, and straight in libmpi
    double helper_seconds = 0;                      ///< of the helper threads of all ranks
    double of_seconds = 0;
};

class OverheadLines {
  public:
    /// One line of its output; others are ignored.
    void take(std::string const& line);
    /// In the order in which they came.
    std::vector<OverheadCell> const& cells() const { return cells_; }
    OverheadCell const* find(std::string const& name, std::uint64_t bytes) const;
    /// Whether something stood between the program and its MPI, in all launches.
    bool between() const { return between_; }

  private:
    OverheadCell& cell(std::string const& name, std::uint64_t bytes);
    std::vector<OverheadCell> cells_;
    bool between_ = false;
    bool told_ = false;
};

/// What all rows of one table share.
struct OverheadPlace {
    std::string mpi;
    int ranks = 2;
};

using OverheadRow = nlohmann::ordered_json;

/// Blocks within launches: "watched/direct" of launches under `sluice run`, each followed by "direct/direct" of plain
/// ones, if there are: what the measurement shows where there is nothing to be seen.
std::vector<OverheadRow> block_rows(OverheadPlace const& place, OverheadLines const& watched,
                                    OverheadLines const& plain);
/// Whole launches in turns: "watched/plain".
std::vector<OverheadRow> launch_rows(OverheadPlace const& place, OverheadLines const& watched,
                                     OverheadLines const& plain);

/// For people. Rows of one of the two functions above.
std::string block_table(OverheadPlace const& place, std::vector<OverheadRow> const& rows);
std::string launch_table(OverheadPlace const& place, std::vector<OverheadRow> const& rows);

}  // namespace sluice::cli
