// SPDX-License-Identifier: BSD-3-Clause
/// The time that may be spent on asking the kernel which pages of buffers are resident (mincore): a microsecond for a
/// question, and one to three nanoseconds for a page. A message that fills its buffer costs a hundred times as much,
/// one of eight bytes into a gigabyte nothing beside it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace sluice::plugin {

/// One part in `part` of the time, of which as much as `ahead` can be used at once. Times are in ticks. Two threads
/// that look at once may count as one.
class LookShare {
  public:
    explicit LookShare(std::uint64_t part) noexcept : part_(part) {}
    void start(std::uint64_t ahead) noexcept { ahead_ = part_ * ahead; }

    bool allows(std::uint64_t now) const noexcept {
        return used_until_.load(std::memory_order_relaxed) <= now + ahead_;
    }
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
