// SPDX-License-Identifier: BSD-3-Clause
/// The main function of tests without MPI, tested: these cases run only if a skip or a failure is expected.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

TEST(Broken, DISABLED_skips_itself) {
    GTEST_SKIP() << "lacks a thing";
}

TEST(Broken, DISABLED_fails) {
    FAIL();
}

TEST(Broken, DISABLED_hangs_asleep) {
    std::this_thread::sleep_for(std::chrono::hours(1));
}

TEST(Broken, DISABLED_hangs_and_spins) {
    for (std::atomic<bool> volatile ended{false}; !ended;) {  // volatile: Clang leaves out an empty loop without end
    }
}
