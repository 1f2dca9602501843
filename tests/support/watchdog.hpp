/// Ends a test program that hangs, and says who hangs where.
#pragma once

#include <string>

namespace sluice::tests {

/// When SLUICE_TEST_SECONDS (none: no watchdog) have passed since `start_watchdog`, every rank prints what it is doing
/// and the calls it is in, and the program ends with code 124.
void start_watchdog(int rank, int ranks);

/// What the message names from now on.
void watchdog_sees(std::string const& activity);

}  // namespace sluice::tests
