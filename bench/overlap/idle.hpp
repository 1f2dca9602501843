// SPDX-License-Identifier: BSD-3-Clause
/// How often the threads of a process wake up while it has nothing to do, and how long they wait for a processor while
/// it has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::bench {

struct ThreadWakeUps {
    std::string name;
    std::uint64_t wake_ups = 0;
};

/// Sleeps for `seconds` and returns, for each other thread of this process, how often it went to sleep meanwhile (the
/// kernel's voluntary context switches), which is how often it was woken.
std::vector<ThreadWakeUps> wake_ups_while_idle(double seconds);

/// Returns the seconds that this thread has waited for a processor so far although it could run. Other work of the
/// machine shows here.
double seconds_without_processor();

}  // namespace sluice::bench
