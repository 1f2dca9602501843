// SPDX-License-Identifier: BSD-3-Clause
/// The output of the program sluice-bench-overhead, and the rows and tables that are made of it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sluice::cli {

/// The measurements of one exchange, over any number of launches, in seconds for each message or step.
struct OverheadCell {
    std::string name;
    std::uint64_t bytes = 0;
    std::vector<double> launches;                   ///< one for each launch
    std::vector<std::pair<double, double>> blocks;  ///< pairs: as a program calls MPI, and straight in libmpi
    double helper_seconds = 0;                      ///< of the helper threads of all ranks
    double of_seconds = 0;
};

class OverheadLines {
  public:
    /// Takes one line of the program's output; unknown lines are ignored.
    void take(std::string const& line);
    /// Returns the cells in the order in which they came.
    std::vector<OverheadCell> const& cells() const { return cells_; }
    OverheadCell const* find(std::string const& name, std::uint64_t bytes) const;
    /// Returns true if a library was between the program and its MPI in all launches.
    bool between() const { return between_; }

  private:
    OverheadCell& cell(std::string const& name, std::uint64_t bytes);
    std::vector<OverheadCell> cells_;
    bool between_ = false;
    bool told_ = false;
};

/// The columns that all rows of one table share.
struct OverheadPlace {
    std::string mpi;
    int ranks = 2;
};

using OverheadRow = nlohmann::ordered_json;

/// Compares blocks within launches: "watched/direct" of launches under `sluice run`, each followed by "direct/direct"
/// of plain launches, if there are any. The latter is the difference that the measurement shows although there is none.
std::vector<OverheadRow> block_rows(OverheadPlace const& place, OverheadLines const& watched,
                                    OverheadLines const& plain);
/// Compares whole launches that alternate: "watched/plain".
std::vector<OverheadRow> launch_rows(OverheadPlace const& place, OverheadLines const& watched,
                                     OverheadLines const& plain);

/// Draws the rows of one of the two functions above as a table for people.
std::string block_table(OverheadPlace const& place, std::vector<OverheadRow> const& rows);
std::string launch_table(OverheadPlace const& place, std::vector<OverheadRow> const& rows);

}  // namespace sluice::cli
