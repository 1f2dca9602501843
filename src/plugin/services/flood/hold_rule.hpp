// SPDX-License-Identifier: BSD-3-Clause
/// When a held send is let go. Holding is never needed for a program to be right, and letting go never wrong: MPI may
/// buffer a standard send or not. So whatever the receiver does, a hold ends (docs/rooms/flood.md).
///
///     begin ──────────── receives complete ──────── … ──────────── begin + hold: let go (too long)
///       └── no receive completes for `patience`: let go (silent)
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace sluice::plugin {

class HoldRule {
  public:
    using Duration = std::chrono::steady_clock::duration;
    using Time = std::chrono::steady_clock::time_point;
    /// How many receives the receiver has completed; nothing if it does not tell, which counts as none.
    using Progress = std::optional<std::uint64_t>;

    enum class Verdict { keep, silent, too_long };

    HoldRule(Duration patience, Duration hold, Time now, Progress progress) noexcept
        : patience_(patience), end_(now + hold), moved_at_(now), progress_(progress) {}

    Verdict ask(Time now, Progress progress) noexcept {
        if (progress && progress != progress_) {
            progress_ = progress;
            moved_at_ = now;
        }
        if (now >= end_) return Verdict::too_long;
        return now - moved_at_ >= patience_ ? Verdict::silent : Verdict::keep;
    }

    /// A receiver that was silent before is waited for longer each time, up to the whole hold: else one that computes
    /// for long would be flooded all the same.
    static Duration patience_after(int silent_before, Duration first, Duration hold) noexcept {
        constexpr int k_most_doublings = 20;
        return std::min(hold, first * (1 << std::min(silent_before, k_most_doublings)));
    }

  private:
    Duration patience_;
    Time end_;
    Time moved_at_;
    Progress progress_;
};

}  // namespace sluice::plugin
