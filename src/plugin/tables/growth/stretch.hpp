// SPDX-License-Identifier: BSD-3-Clause
/// Whose memory a stretch of several calls brought, which only its ends tell of. Calls with readings of their own, and
/// the gaps behind them, say how much the MPI takes in a call and the program between two:
///
///     | call | gap | ... calls and gaps that are not read ... |
///     ^      ^     ^                                          ^ readings
///      inside outside            so many times inside and outside explain a growth, what is more is shared by time
///
/// Time alone would give the MPI what the program takes itself: a rank that waits is in MPI nearly all the time.
/// Written under the lock of readings (memory_watch.hpp); samples look at it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugin/binding/tally.hpp"

namespace sluice::plugin {

class Stretch {
  public:
    /// A call with readings at both ends is over, in which the MPI took `bytes`. `counts`: it is not the first of its
    /// place, which takes what is there for all.
    void read_call(std::uint64_t bytes, bool counts) noexcept {
        taken_ = bytes;
        is_behind_ = counts;
    }
    /// A call without them is over.
    void unread_call() noexcept { add(unread_, 1); }
    /// A reading at the begin of a call: the process has grown by `bytes` since the one before.
    void begins(std::uint64_t bytes) noexcept {
        if (is_behind_ && look_at(unread_) == 0) {
            put(inside_, inside_ + taken_);
            put(outside_, outside_ + bytes);
            put(visits_, visits_ + 1);
            if (visits_ >= k_remembered)
                for (std::uint64_t* const each : {&inside_, &outside_, &visits_})
                    put(*each, *each / 2);
        }
        is_behind_ = false;
    }
    /// A reading: the next stretch begins.
    void restart() noexcept { put(unread_, std::uint64_t{0}); }

    /// The MPI's part of `bytes` by which the process has grown since the last reading. `share`: of the time, in calls.
    std::uint64_t part_of_mpi(std::uint64_t bytes, double share) const noexcept {
        std::uint64_t const visits = look_at(visits_);
        double const inside = static_cast<double>(look_at(inside_));
        double const both = inside + static_cast<double>(look_at(outside_));
        double explained = 0;
        double of_mpi = 0;
        if (visits >= k_enough && both > 0) {
            double const times = k_times * static_cast<double>(look_at(unread_) + 1) / static_cast<double>(visits);
            explained = std::min(static_cast<double>(bytes), times * both);
            of_mpi = explained * inside / both;
        }
        return static_cast<std::uint64_t>(of_mpi + (static_cast<double>(bytes) - explained) * share);
    }

  private:
    static constexpr std::uint64_t k_enough = 8;
    static constexpr std::uint64_t k_remembered = 256;
    static constexpr double k_times = 4;

    std::uint64_t taken_ = 0;  // in the read call that a gap follows
    bool is_behind_ = false;   // the next stretch begins behind such a call
    std::uint64_t unread_ = 0;
    std::uint64_t inside_ = 0, outside_ = 0, visits_ = 0;  // of read calls whose gaps were read, too
};

}  // namespace sluice::plugin
