// SPDX-License-Identifier: BSD-3-Clause
/// The time that may be spent on asking the kernel which pages of buffers are resident (mincore): a microsecond for a
/// question, and one to three nanoseconds for a page. That is a hundredth of a message that fills its buffer, but all
/// of the time of a program that receives eight bytes into room for a gigabyte.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <ctime>

#include "plugin/binding/clock.hpp"

namespace sluice::plugin {

/// One part in `part` of the time, of which as much as `ahead` can be used at once. Times are in ticks. Two threads
/// that look at once may count as one.
class LookShare {
  public:
    /// So many bytes, or fewer, are looked at whatever was used.
    static constexpr std::uint64_t k_always = 256 << 10;

    explicit LookShare(std::uint64_t part) noexcept : part_(part) {}
    void start(Clock const& clock, std::uint64_t ahead_us) noexcept {
        clock_ = clock;
        ahead_ = part_ * clock.ticks_in_us(ahead_us);
    }

    bool allows(std::uint64_t now) const noexcept {
        return used_until_.load(std::memory_order_relaxed) <= now + ahead_;
    }
    bool allows_look_at(std::uint64_t bytes) const noexcept { return bytes <= k_always || allows(ticks()); }
    void looked(std::uint64_t at, std::uint64_t took) noexcept {
        std::uint64_t const until = std::max(used_until_.load(std::memory_order_relaxed), at);
        used_until_.store(until + part_ * took, std::memory_order_relaxed);
    }

    /// A look at much, while this lives. Counts what the thread takes of a processor: on a busy machine much more time
    /// passes.
    class Look {
      public:
        explicit Look(LookShare& share) noexcept : share_(share), at_(ticks()), before_(of_thread_ns()) {}
        Look(Look const&) = delete;
        Look& operator=(Look const&) = delete;
        ~Look() { share_.looked(at_, share_.clock_.ticks_in_ns(of_thread_ns() - before_)); }

      private:
        static std::uint64_t of_thread_ns() noexcept {
            timespec now{};
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
            return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
        }
        LookShare& share_;
        std::uint64_t at_;
        std::uint64_t before_;
    };

  private:
    std::uint64_t part_;
    Clock clock_;
    std::uint64_t ahead_ = 0;
    std::atomic<std::uint64_t> used_until_{0};
};

}  // namespace sluice::plugin
