// SPDX-License-Identifier: BSD-3-Clause
/// Ends a test program that hangs, and prints which rank hangs and where. hang_judge.hpp defines when a program hangs.
#pragma once

#include <string>

namespace sluice::tests {

/// The place through which the ranks of a test tell each other what they have done: a page of shared memory. Rank 0
/// makes it and gives these two numbers to the others.
struct WatchdogBoard {
    long process = 0;
    long descriptor = -1;
};
WatchdogBoard make_watchdog_board();

/// Watches the rank from now on, if SLUICE_TEST_SECONDS says how much processor time each rank may use. If the test
/// hangs, every rank prints what it is doing and the calls that it is in, and the program ends with code 124.
/// SLUICE_TEST_ASLEEP_SECONDS (60): how long all ranks may sleep. A rank that cannot reach the board watches itself
/// alone.
void start_watchdog(int rank, int ranks, WatchdogBoard board);

/// Sets the activity that the message names from now on, and counts a step of the rank.
void watchdog_sees(std::string const& activity);

/// The rank is done, and the others no longer wait for its figures.
void stop_watchdog();

}  // namespace sluice::tests
