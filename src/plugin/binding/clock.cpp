// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/binding/clock.hpp"

#include <chrono>

namespace sluice::plugin {

std::uint64_t unix_us() noexcept {
    auto const now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

void Clock::start() {
    std::uint64_t const t0 = nanoseconds();
    std::uint64_t const c0 = ticks();
    while (nanoseconds() - t0 < 2000000) {
    }
    std::uint64_t const c1 = ticks();
    ns_per_tick_ = static_cast<double>(nanoseconds() - t0) / static_cast<double>(c1 - c0);
    us_per_tick_ = ns_per_tick_ / 1000;
    start_ = c0;
}

}  // namespace sluice::plugin
