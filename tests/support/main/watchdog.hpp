// SPDX-License-Identifier: BSD-3-Clause
/// Ends a test program that hangs, and says which rank hangs where. hang_judge.hpp says when a program hangs.
#pragma once

#include <string>

namespace sluice::tests {

/// Where the ranks of a test tell each other what they have done: a page of memory that they share. Rank 0 makes it and
/// gives these two numbers to the others.
struct WatchdogBoard {
    long process = 0;
    long descriptor = -1;
};
WatchdogBoard make_watchdog_board();

/// From now on the rank is watched, if SLUICE_TEST_SECONDS says how much processor time each rank may use. When the
/// test hangs, every rank prints what it is doing and the calls that it is in, and the program ends with code 124.
/// SLUICE_TEST_ASLEEP_SECONDS (60): how long all ranks may sleep. A rank that cannot reach the board watches itself
/// alone.
void start_watchdog(int rank, int ranks, WatchdogBoard board);

/// What the message names from now on, and a step that the rank has made.
void watchdog_sees(std::string const& activity);

/// The rank has nothing more to do, and the others no longer wait for figures of it.
void stop_watchdog();

}  // namespace sluice::tests
