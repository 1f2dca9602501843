// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/helper_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace sluice::engine {
namespace {

using namespace std::chrono_literals;

/// Counts its runs; each run tells when it wants the next one.
struct Counting final : kernel::HelperThread::Job {
    std::atomic<int> runs{0};
    std::atomic<kernel::HelperThread::Clock::duration> pause{kernel::HelperThread::Clock::duration(1us)};
    kernel::HelperThread::Clock::duration run() noexcept override {
        ++runs;
        return pause;
    }
    void wait_for(int number) const {
        while (runs < number)
            std::this_thread::yield();
    }
};

TEST(HelperThread, runs_a_job_again_and_again_until_it_is_removed) {
    kernel::HelperThread helper;
    Counting job;
    helper.add(job);
    job.wait_for(100);
    helper.remove(job);
    int const then = job.runs;
    std::this_thread::sleep_for(2ms);
    EXPECT_EQ(job.runs, then);
}

TEST(HelperThread, sleeps_until_a_job_is_woken) {
    kernel::HelperThread helper;
    Counting sleepy;
    sleepy.pause = kernel::HelperThread::Clock::duration::max();
    helper.add(sleepy);
    sleepy.wait_for(1);
    for (int i = 2; i <= 1000; ++i) {
        helper.wake(sleepy);
        sleepy.wait_for(i);  // no wake-up is lost, even if it arrives while the job runs
        EXPECT_EQ(sleepy.runs, i);
    }
    helper.remove(sleepy);
}

TEST(HelperThread, a_job_that_sleeps_does_not_keep_others_from_running) {
    kernel::HelperThread helper;
    Counting sleepy;
    sleepy.pause = kernel::HelperThread::Clock::duration(1h);
    Counting busy;
    helper.add(sleepy);
    helper.add(busy);
    busy.wait_for(100);
    EXPECT_EQ(sleepy.runs, 1);
    helper.remove(busy);
    helper.remove(sleepy);
}

TEST(HelperThread, remove_waits_for_the_end_of_a_run) {
    struct Long final : kernel::HelperThread::Job {
        std::atomic<bool> began{false};
        std::atomic<bool> ended{false};
        kernel::HelperThread::Clock::duration run() noexcept override {
            began = true;
            std::this_thread::sleep_for(5ms);
            ended = true;
            return kernel::HelperThread::Clock::duration::max();
        }
    };
    for (int i = 0; i < 5; ++i) {
        kernel::HelperThread helper;
        Long job;
        helper.add(job);
        while (!job.began)
            std::this_thread::yield();
        helper.remove(job);
        EXPECT_TRUE(job.ended);
    }
}

TEST(HelperThread, is_not_made_before_it_is_needed) {
    kernel::HelperThread helper;
    Counting job;
    helper.remove(job);  // was never added
    helper.wake(job);
    EXPECT_EQ(job.runs, 0);
}

}  // namespace
}  // namespace sluice::engine
