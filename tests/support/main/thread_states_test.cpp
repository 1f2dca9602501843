// SPDX-License-Identifier: BSD-3-Clause
#include "support/main/thread_states.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace sluice::tests {
namespace {

TEST(ThreadStates, sees_a_thread_that_runs_and_not_itself) {
    std::atomic<bool> ended{false};
    std::thread busy([&ended] {
        while (!ended) {
        }
    });
    while (!another_thread_waits()) {
    }
    ended = true;
    busy.join();
    while (another_thread_waits()) {
    }  // the watchdog's thread may be counted, too
}

TEST(ThreadStates, sees_that_a_thread_sleeps) {
    std::atomic<bool> ended{false};
    std::thread asleep([&ended] { ended.wait(false); });
    while (another_thread_waits()) {
    }
    ended = true;
    ended.notify_one();
    asleep.join();
}

}  // namespace
}  // namespace sluice::tests
