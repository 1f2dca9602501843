// SPDX-License-Identifier: BSD-3-Clause
/// The requests to the limited bed, and its report of a run.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice::cli {

/// One run on bench/beds/limited: its command line, and its output files, which are removed with this object.
class LimitedRun {
  public:
    struct Limits {
        int node_mib = 192;
        int nodes = 1;         ///< more than one: each has that memory, and the command is on the bed cluster
        int swap_mib = 0;      ///< 0: pages cannot be swapped out
        double seconds = 60;   ///< the run is ended after this time
        int processes = 2;     ///< processes that share the node if no control group can be made
        bool samples = false;  ///< whether memory over time is wanted
    };
    /// Throws std::runtime_error if the bed's script is missing or no file can be made.
    explicit LimitedRun(Limits limits);
    LimitedRun(LimitedRun const&) = delete;
    LimitedRun& operator=(LimitedRun const&) = delete;
    ~LimitedRun();

    /// The part of the command line that precedes the launcher.
    std::vector<std::string> prefix() const;
    /// After the run: returns outcome, limit, peak_held_bytes, major_faults, seconds …, or null if the bed wrote
    /// nothing.
    nlohmann::json report() const;
    /// Returns the memory that all processes of the run held over time, as seconds since the first point and MiB: at
    /// most `most` points, each the highest of its interval.
    std::vector<std::pair<double, double>> curve(std::size_t most) const;

  private:
    Limits limits_;
    std::string script_;
    std::string folder_;
};

}  // namespace sluice::cli
