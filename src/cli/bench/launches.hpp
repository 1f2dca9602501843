// SPDX-License-Identifier: BSD-3-Clause
/// Several launches of one cell of `sluice bench redistribute`: some stay slow as long as they live, which the median
/// of one launch cannot show.
#pragma once

#include <string>
#include <vector>

#include "cli/bench/table.hpp"

namespace sluice::cli {

class Launches {
  public:
    /// The rows of one launch. Returns false if they lack token, or its ratio to the better of the hand-written
    /// exchanges.
    bool add(std::vector<Row> const& rows);

    /// A row for each launch, and one for all of them: {"launches", "greatest": {"time", "processor"}}, both as ratios
    /// to the median.
    std::vector<Row> rows() const;
    /// The same as a table; empty without launches.
    std::string table() const;

  private:
    struct Launch {
        double time;       // of token, over that of the better peer
        double processor;  // seconds of token on all ranks together
    };
    struct Medians {
        double time;
        double processor;
    };
    Medians medians() const;
    Launch greatest() const;

    Row cell_;
    std::vector<Launch> launches_;
};

}  // namespace sluice::cli
