// SPDX-License-Identifier: BSD-3-Clause
/// The time that may be spent on asking the kernel which pages of buffers are resident (mincore): a microsecond for a
/// question, and one to three nanoseconds for a page. That is a hundredth of a message that fills its buffer, but all
/// of the time of a program that receives eight bytes into room for a gigabyte.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "plugin/binding/clock.hpp"

namespace sluice::plugin {

/// One part in `part` of the time, of which as much as `ahead` can be used at once. Times are in ticks. Two threads
/// that look at once may count as one.
class LookShare {
  public:
    /// So many bytes, or fewer, are looked at whatever was used.
    static constexpr std::uint64_t k_always = 256 << 10;

    explicit LookShare(std::uint64_t part) noexcept : part_(part) {}
    void start(std::uint64_t ahead) noexcept { ahead_ = part_ * ahead; }

    bool allows(std::uint64_t now) const noexcept {
        return used_until_.load(std::memory_order_relaxed) <= now + ahead_;
    }
    bool allows_look_at(std::uint64_t bytes) const noexcept { return bytes <= k_always || allows(ticks()); }
    void looked(std::uint64_t from, std::uint64_t to) noexcept {
        std::uint64_t const until = std::max(used_until_.load(std::memory_order_relaxed), from);
        used_until_.store(until + part_ * (to - std::min(from, to)), std::memory_order_relaxed);
    }

  private:
    std::uint64_t part_;
    std::uint64_t ahead_ = 0;
    std::atomic<std::uint64_t> used_until_{0};
};

}  // namespace sluice::plugin
