// SPDX-License-Identifier: BSD-3-Clause
/// The output of the program sluice-bench-overlap.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sluice::cli {

/// The measurements of one size and kind of work: seconds by method, the n-th of all methods in turn.
struct OverlapRounds {
    std::string name;  ///< of the case
    std::uint64_t bytes = 0;
    std::map<std::string, std::vector<double>> seconds;
    /// The number of rounds that all methods have.
    std::size_t whole() const;
    /// Returns null if the method was not measured.
    std::vector<double> const* find(std::string const& method) const;
};

/// Wake-ups of all threads of one name and rank.
struct OverlapWakeUps {
    int rank = 0;
    double seconds = 0;
    std::uint64_t count = 0;
    std::string thread;
};

/// What the launches of one kind have printed.
class OverlapLines {
  public:
    /// Takes one line of the program's output; unknown lines are ignored.
    void take(std::string const& line);

    /// Returns the cells in the order in which they came.
    std::vector<OverlapRounds> const& cells() const { return cells_; }
    OverlapRounds const* find(std::string const& name, std::uint64_t bytes) const;
    /// Seconds of an 8-byte message: as a program calls MPI, and straight in libmpi.
    std::vector<std::pair<double, double>> const& latency() const { return latency_; }
    std::vector<OverlapWakeUps> const& wake_ups() const { return wake_ups_; }
    /// The largest part of the rounds' time for which a rank waited for a processor.
    double delayed() const { return delayed_; }
    /// Returns whether a library was between the program and its MPI in all launches.
    bool between() const { return between_; }

  private:
    OverlapRounds& cell(std::string const& name, std::uint64_t bytes);

    std::vector<OverlapRounds> cells_;
    std::vector<std::pair<double, double>> latency_;
    std::vector<OverlapWakeUps> wake_ups_;
    double delayed_ = 0;
    bool between_ = false;
    bool told_ = false;
};

/// Returns what the summary of a job says of overlap, each paragraph as one line: the waiting that was hidden, and the
/// receives that returned early or did not.
std::vector<std::string> said_of_overlap(std::string const& summary);

}  // namespace sluice::cli
