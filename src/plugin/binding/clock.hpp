// SPDX-License-Identifier: BSD-3-Clause
/// The processor's time-stamp counter: a tenth of the cost of a clock call, which two of at every MPI call would be
/// felt.
#pragma once

#include <cstdint>
#include <ctime>

namespace sluice::plugin {

inline std::uint64_t nanoseconds() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U + static_cast<std::uint64_t>(now.tv_nsec);
}

inline std::uint64_t ticks() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return nanoseconds();
#endif
}

/// The time of day in microseconds since 1970: one clock for all processes of a node.
std::uint64_t unix_us() noexcept;

/// Turns ticks into time. Measured over a few milliseconds at the start.
class Clock {
  public:
    void start();
    std::uint64_t ns(std::uint64_t elapsed_ticks) const noexcept { return scaled(elapsed_ticks, ns_per_tick_); }
    std::uint64_t us_since_start(std::uint64_t at) const noexcept { return scaled(at - start_, us_per_tick_); }
    /// Returns the ticks in that number of microseconds.
    std::uint64_t ticks_in_us(std::uint64_t us) const noexcept { return ticks_in_ns(us * 1000); }
    std::uint64_t ticks_in_ns(std::uint64_t ns) const noexcept {
        return static_cast<std::uint64_t>(static_cast<double>(ns) / ns_per_tick_);
    }

  private:
    /// By signed numbers, which the processor converts in one instruction.
    static std::uint64_t scaled(std::uint64_t count, double by) noexcept {
        return static_cast<std::uint64_t>(
            static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(count)) * by));
    }

    std::uint64_t start_ = 0;
    double ns_per_tick_ = 1.0;
    double us_per_tick_ = 1e-3;
};

}  // namespace sluice::plugin
