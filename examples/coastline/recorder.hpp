// SPDX-License-Identifier: BSD-3-Clause
/// Records what a run did, to be drawn later: events with their time, and where each rank's points are.
#pragma once

#include <fstream>
#include <span>
#include <string>

#include "world/block.hpp"

namespace coastline {

/// The recorder does nothing if no folder is given.
class Recorder {
  public:
    Recorder(std::string folder, int rank);

    /// Rank 0 appends {"at": seconds since 1970, "event": name, members} to events.jsonl. `members` is JSON text.
    void event(std::string const& name, std::string const& members = "");

    /// Every rank writes a sixteenth of its points as pairs of 32-bit floats to NAME.RANK.
    void points(std::string const& name, std::span<Block const> blocks) const;

  private:
    std::string folder_;
    int rank_;
    std::ofstream events_;
};

}  // namespace coastline
