// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/binding/clock.hpp"

namespace sluice::plugin {

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
