// SPDX-License-Identifier: BSD-3-Clause
/// What the limited bed is asked for and says of a run.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice::cli {

/// One run on bench/beds/limited: its command line, and the files it leaves, which are removed with this object.
class LimitedRun {
  public:
    struct Limits {
        int node_mib = 192;
        int swap_mib = 0;      ///< 0: pages cannot be swapped out
        double seconds = 60;   ///< after which it is ended
        int processes = 2;     ///< that share the node where no control group can be made
        bool samples = false;  ///< memory over time is wanted
    };
    /// Throws std::runtime_error where the bed's script is not beside this command or no file can be made.
    explicit LimitedRun(Limits limits);
    LimitedRun(LimitedRun const&) = delete;
    LimitedRun& operator=(LimitedRun const&) = delete;
    ~LimitedRun();

    /// What stands before the launcher.
    std::vector<std::string> prefix() const;
    /// After the run: outcome, limit, peak_held_bytes, major_faults, seconds …, or null where the bed left nothing.
    nlohmann::json report() const;
    /// Memory that all its processes held over time, at most `most` points of which each is the highest of its stretch:
    /// seconds since the first, MiB.
    std::vector<std::pair<double, double>> curve(std::size_t most) const;

  private:
    Limits limits_;
    std::string script_;
    std::string folder_;
};

}  // namespace sluice::cli
