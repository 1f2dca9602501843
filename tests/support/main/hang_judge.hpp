// SPDX-License-Identifier: BSD-3-Clause
/// Decides whether the ranks of a test hang, from what each has done so far. Elapsed time alone never ends a test,
/// because a machine that is busy with other work makes every test slow.
///
///     spins    a rank has used its limit of processor time
///     sleeps   for a while no rank was busy and none made a step
///
/// A rank is busy while it uses a processor or waits for one or for a disk. Ranks that look for messages now and then
/// are busy for a hundredth of the time, so a rank that is busy for less than a twentieth counts as asleep.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>

namespace sluice::tests {

/// What a rank has done since the watchdog began.
struct RankUse {
    std::chrono::nanoseconds processor{0};  ///< processor time of all its threads
    std::chrono::nanoseconds busy{0};       ///< time in which a thread ran, or waited for a processor or a disk
    std::uint64_t steps = 0;                ///< activities begun
    std::uint64_t looks = 0;                ///< how often the figures have been updated
    bool ended = false;                     ///< the figures are final
};

struct HangLimits {
    std::chrono::nanoseconds processor;
    std::chrono::nanoseconds asleep;
};

enum class Hang : int { none, spins, sleeps };

class HangJudge {
  public:
    /// After a stop of the machine (a virtual one, or one in a debugger) there is a gap between two looks; at most this
    /// much of it counts.
    static constexpr std::chrono::seconds k_most_between_looks{2};
    static constexpr int k_busy_part = 20;
    static constexpr int k_most_ranks = 64;

    explicit HangJudge(HangLimits limits) : limits_(limits) {}

    /// `now` is a monotonic time; `uses` has an entry for each rank, at most k_most_ranks, and the same ranks in each
    /// look.
    Hang look(std::chrono::nanoseconds now, std::span<RankUse const> uses) {
        for (RankUse const& use : uses)
            if (use.processor >= limits_.processor) return Hang::spins;
        if (!begun_ || a_rank_was_awake(uses)) {
            begin_again(uses);
            begun_ = true;
        } else if (all_are_up_to_date(uses)) {
            asleep_ += std::min<std::chrono::nanoseconds>(now - last_look_, k_most_between_looks);
        }
        for (std::size_t i = 0; i < uses.size(); ++i)
            looks_[i] = uses[i].looks;
        last_look_ = now;
        return asleep_ >= limits_.asleep ? Hang::sleeps : Hang::none;
    }

  private:
    bool a_rank_was_awake(std::span<RankUse const> uses) const {
        for (std::size_t i = 0; i < uses.size(); ++i)
            if (uses[i].steps != first_[i].steps || uses[i].busy - first_[i].busy > limits_.asleep / k_busy_part)
                return true;
        return false;
    }

    /// If a rank's figures are old, it is not known whether the rank sleeps.
    bool all_are_up_to_date(std::span<RankUse const> uses) const {
        for (std::size_t i = 0; i < uses.size(); ++i)
            if (uses[i].looks == looks_[i] && !uses[i].ended) return false;
        return true;
    }

    void begin_again(std::span<RankUse const> uses) {
        std::copy(uses.begin(), uses.end(), first_);
        asleep_ = std::chrono::nanoseconds(0);
    }

    HangLimits limits_;
    bool begun_ = false;
    RankUse first_[k_most_ranks]{};
    std::uint64_t looks_[k_most_ranks]{};
    std::chrono::nanoseconds last_look_{0};
    std::chrono::nanoseconds asleep_{0};
};

}  // namespace sluice::tests
