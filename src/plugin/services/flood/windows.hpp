// SPDX-License-Identifier: BSD-3-Clause
/// What this rank has sent to others since its last mark there: a synchronous send, whose end proves that the receiver
/// has got so far.
///
///     ── 4000 B ── 4000 B ── … ── mark ── 4000 B ── … ── mark          at most two spacings are on their way,
///                    spacing        │     spacing          │           for a mark is held until
///                                   └──── is matched? ─────┘           the one before is matched
///
/// The table has a constant size: sets of four ranks, of which the one used least lately makes room. A rank that comes
/// in for another one begins at a random place of its spacing, so that with more ranks than the table has, each send is
/// a mark with the probability bytes / spacing, whatever was forgotten.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/message_memory.hpp"

namespace sluice::plugin {

using base::memory_of_message;

template <class Mark>
struct SendWindow {
    int rank = -1;                 ///< in MPI_COMM_WORLD; −1: unused
    std::uint32_t spacing = 0;     ///< memory of messages between two marks; at most half of the share
    std::uint64_t since_mark = 0;  ///< memory of the messages sent
    std::uint32_t messages = 0;    ///< sent since then
    std::uint32_t used_at = 0;
    enum class Node : std::uint8_t { unknown, same, other } node = Node::unknown;
    int silence = 0;                  ///< how often a hold ended because the receiver completed nothing, in quarters
    std::shared_ptr<Mark> mark;       ///< the last one; null: none yet, or it is matched
    std::uint32_t bursts_let_go = 0;  ///< so many of the next bursts are not held
    std::uint32_t silent_bursts = 0;

    /// A hold ended by silence, or by a match, which leaves one silence at most, that some more matches make up for:
    /// so where a receiver often waits for its processor, its silence is waited for a little longer.
    void was_silent() noexcept { silence += k_quarters; }
    void was_matched() noexcept { silence = std::clamp(silence - 1, 0, k_quarters); }
    int silences() const noexcept { return silence / k_quarters; }
    static constexpr int k_quarters = 4;

    /// A burst: nonblocking sends that are started while one to this receiver is held. It is not held if the receiver
    /// was silent in bursts before, and so seldom that they cost nothing in a program whose ranks all send first.
    bool holds_burst() noexcept { return bursts_let_go == 0 || --bursts_let_go == 0; }
    void was_silent_in_burst() noexcept {
        constexpr std::uint32_t k_most_doublings = 12;
        silent_bursts = std::min(silent_bursts + 1, k_most_doublings);
        bursts_let_go = 1U << silent_bursts;
    }
    void was_matched_in_burst() noexcept { silent_bursts -= silent_bursts > 0 ? 1 : 0; }

    /// Counts a message. True if it is to be a mark.
    bool sends(std::uint64_t bytes) noexcept {
        since_mark += memory_of_message(bytes);
        ++messages;
        return since_mark >= spacing;
    }
};

template <class Mark>
class SendWindows {
  public:
    static constexpr std::size_t k_sets = 64;
    static constexpr std::size_t k_ways = 4;
    static constexpr std::uint32_t k_least_spacing = 16 << 10;
    static constexpr std::uint32_t k_let_go = 1 << 10;  // of senders that are let go again and again

    explicit SendWindows(std::uint64_t share) noexcept
        : most_(static_cast<std::uint32_t>(std::max<std::uint64_t>(share / 2, 1))),
          least_(std::min(most_, k_least_spacing)) {}

    SendWindow<Mark>& of(int rank) noexcept {
        auto& set = sets_[static_cast<std::size_t>(rank) % k_sets];
        SendWindow<Mark>* oldest = &set[0];
        for (SendWindow<Mark>& window : set) {
            if (window.rank == rank) [[likely]] {
                window.used_at = ++uses_;
                return window;
            }
            if (uses_ - window.used_at > uses_ - oldest->used_at) oldest = &window;
        }
        bool const pushes_out = oldest->rank >= 0;
        *oldest = SendWindow<Mark>();
        oldest->rank = rank;
        oldest->used_at = ++uses_;
        oldest->spacing = least_;
        if (pushes_out) oldest->since_mark = random() % oldest->spacing;
        return *oldest;
    }

    /// A send was held until its mark was matched. What the receiver had before it is what it completed since the mark
    /// left: so many receives of so many bytes, from all of its senders. If that is little, it takes from few of them.
    void adapt(SendWindow<Mark>& window, std::uint64_t completed, std::uint64_t bytes_each) const noexcept {
        std::uint64_t const before_it = completed * bytes_each;
        if (before_it > k_most_halves * most_) narrow(window);
        if (before_it < k_most_halves * most_ / 2) widen(window);
    }
    /// The receiver keeps up: a program that sends ahead may be further ahead.
    void widen(SendWindow<Mark>& window) const noexcept { window.spacing = std::min(most_, window.spacing * 2); }
    /// It does not: it has many senders, or is slow.
    void narrow(SendWindow<Mark>& window) const noexcept {
        window.spacing = std::max(std::min(window.spacing, least_), window.spacing / 2);
    }
    /// In a burst three spacings are on their way.
    void narrow_for_burst(SendWindow<Mark>& window) const noexcept {
        window.spacing = std::min(window.spacing, std::max(least_, most_ / 2));
    }
    void begin_again(SendWindow<Mark>& window) const noexcept { window.spacing = std::min(window.spacing, least_); }
    /// It takes from others, and what was held is let go all the same: less each time, or a flood that lasts for long
    /// would fill it.
    void let_go(SendWindow<Mark>& window) const noexcept {
        window.spacing = std::max(std::min(least_, k_let_go), window.spacing / 2);
    }

    template <class Visit>
    void each(Visit const& visit) {
        for (auto& set : sets_)
            for (SendWindow<Mark>& window : set)
                if (window.rank >= 0) visit(window);
    }

  private:
    // Halves of shares that a receiver may have in all, or about that.
    static constexpr std::uint64_t k_most_halves = 3;
    /// xorshift (Marsaglia, 2003).
    std::uint32_t random() noexcept {
        random_ ^= random_ << 13;
        random_ ^= random_ >> 17;
        random_ ^= random_ << 5;
        return random_;
    }

    std::uint32_t most_;
    std::uint32_t least_;
    std::uint32_t uses_ = 0;
    std::uint32_t random_ = 2463534242;
    std::array<std::array<SendWindow<Mark>, k_ways>, k_sets> sets_{};
};

}  // namespace sluice::plugin
