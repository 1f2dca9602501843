// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/helper_thread.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "kernel/helper_jobs.hpp"
#include "sluice/error.hpp"

namespace sluice::kernel {
namespace {

using namespace std::chrono_literals;

TEST(HelperThread, runs_a_job_again_and_again_until_it_is_removed) {
    HelperThread helper;
    Counting job;
    helper.add(job);
    job.wait_for(100);
    helper.remove(job);
    int const then = job.runs;
    std::this_thread::sleep_for(2ms);
    EXPECT_EQ(job.runs, then);
}

TEST(HelperThread, sleeps_until_a_job_is_woken) {
    HelperThread helper;
    Counting sleepy;
    sleepy.pause = HelperThread::k_until_woken;
    helper.add(sleepy);
    sleepy.wait_for(1);
    for (int i = 2; i <= 1000; ++i) {
        helper.wake(sleepy);
        sleepy.wait_for(i);  // no wake-up is lost, even if it arrives while the job runs
        EXPECT_EQ(sleepy.runs, i);
    }
    helper.add(sleepy);  // the job is there already, so this wakes it
    sleepy.wait_for(1001);
    helper.remove(sleepy);
}

TEST(HelperThread, a_job_that_sleeps_does_not_keep_others_from_running) {
    HelperThread helper;
    Counting sleepy;
    sleepy.pause = HelperThread::Clock::duration(1h);
    Counting busy;
    helper.add(sleepy);
    helper.add(busy);
    busy.wait_for(100);
    EXPECT_EQ(sleepy.runs, 1);
    helper.remove(busy);
    helper.remove(sleepy);
}

TEST(HelperThread, remove_waits_for_the_end_of_a_run) {
    for (int i = 0; i < 5; ++i) {
        HelperThread helper;
        std::atomic<bool> began{false};
        std::atomic<bool> ended{false};
        Doing job([&] {
            began = true;
            std::this_thread::sleep_for(5ms);
            ended = true;
            return HelperThread::k_until_woken;
        });
        helper.add(job);
        wait_until([&] { return began.load(); });
        helper.remove(job);
        EXPECT_TRUE(ended);
    }
}

TEST(HelperThread, is_not_made_before_it_is_needed) {
    HelperThread helper;
    Counting job;
    helper.remove(job);  // was never added
    helper.wake(job);
    EXPECT_EQ(job.runs, 0);
}

TEST(HelperThread, runs_a_job_whose_descriptor_is_readable) {
    HelperThread helper;
    Reading job;
    helper.add(job);
    job.wait_for(1);  // as each job, when it is added
    for (std::uint64_t i = 1; i <= 1000; ++i) {
        job.tell(1);
        wait_until([&] { return job.sum == i; });
    }
    EXPECT_LE(job.runs, 1001);
    helper.remove(job);
    job.tell(1);
    std::this_thread::sleep_for(2ms);
    EXPECT_EQ(job.sum, 1000U);
}

TEST(HelperThread, serves_more_readable_descriptors_than_it_is_told_of_at_once) {
    HelperThread helper;
    std::vector<std::unique_ptr<Reading>> jobs(100);
    for (auto& job : jobs) {
        job = std::make_unique<Reading>();
        helper.add(*job);
    }
    for (std::uint64_t round = 1; round <= 20; ++round) {
        for (auto const& job : jobs)
            job->tell(1);
        for (auto const& job : jobs)
            wait_until([&] { return job->sum == round; });
    }
    for (auto const& job : jobs)
        helper.remove(*job);
}

TEST(HelperThread, refuses_what_the_kernel_cannot_wait_for) {
    struct OfFile final : Counting {
        std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), std::fclose};
        int descriptor() const noexcept override { return fileno(file.get()); }
    };
    HelperThread helper;
    OfFile job;
    EXPECT_THROW(helper.add(job), Error);
    helper.remove(job);
    EXPECT_EQ(job.runs, 0);
}

TEST(HelperThread, runs_a_last_time_for_a_pipe_that_has_ended) {
    struct FromPipe final : Counting {
        Descriptor from, to;
        std::atomic<int> bytes{0};
        FromPipe() {
            std::array<int, 2> ends{};
            EXPECT_EQ(pipe(ends.data()), 0);
            from = Descriptor(ends[0]);
            to = Descriptor(ends[1]);
            pause = HelperThread::k_until_woken;
        }
        int descriptor() const noexcept override { return from.get(); }
        HelperThread::Clock::duration run() noexcept override {
            char byte = 0;
            if (to.is_open() ? runs > 0 : true) bytes += static_cast<int>(read(from.get(), &byte, 1));
            return Counting::run();
        }
    };
    HelperThread helper;
    FromPipe job;
    helper.add(job);
    job.wait_for(1);
    EXPECT_EQ(write(job.to.get(), "ab", 2), 2);
    job.wait_for(3);
    helper.remove(job);
    job.to.reset();
    helper.add(job);
    job.wait_for(4);
    Counting other;
    helper.add(other);
    other.wait_for(1000);
    EXPECT_LE(job.runs, 5) << "once as it was added, once for the end";
    EXPECT_EQ(job.bytes, 2);
    helper.remove(job);
    helper.remove(other);
}

TEST(HelperThread, no_longer_listens_to_a_descriptor_that_a_job_has_done_with) {
    // Readable for ever, as that of a process that has ended.
    struct Once final : Counting {
        Descriptor event{eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC)};
        Once() { pause = HelperThread::k_until_woken; }
        int descriptor() const noexcept override { return runs == 0 ? event.get() : -1; }
    };
    HelperThread helper;
    Once job;
    helper.add(job);
    job.wait_for(1);
    Counting other;
    helper.add(other);
    other.wait_for(1000);
    EXPECT_LE(job.runs, 1) << "as it was added";
    helper.wake(job);
    job.wait_for(2);
    helper.remove(job);
    Reading reading;  // the descriptors of others still count
    helper.add(reading);
    reading.wait_for(1);
    reading.tell(5);
    wait_until([&] { return reading.sum == 5; });
    helper.remove(reading);
    helper.remove(other);
}

/// Of busy jobs none runs more often than another by more than a turn.
TEST(HelperThread, jobs_that_want_to_run_at_once_take_turns) {
    HelperThread helper;
    std::mutex mutex;
    std::vector<int> order;
    auto const job = [&](int number) {
        return Doing([&, number] {
            std::lock_guard const lock(mutex);
            order.push_back(number);
            return HelperThread::Clock::duration::zero();
        });
    };
    auto a = job(0), b = job(1), c = job(2);
    helper.add(a);
    helper.add(b);
    helper.add(c);
    std::size_t begin = 0, end = 0;  // between them all have been added and none has been removed
    wait_until([&] {
        std::lock_guard const lock(mutex);
        begin = 0;
        for (int number = 0; number < 3; ++number)
            begin = std::max(begin, static_cast<std::size_t>(std::ranges::find(order, number) - order.begin()));
        end = order.size();
        return end > begin + 3000;
    });
    helper.remove(a);
    helper.remove(b);
    helper.remove(c);
    for (std::size_t i = begin; i + 3 < end; ++i)
        ASSERT_EQ(order[i], order[i + 3]) << i;
    EXPECT_NE(order[begin], order[begin + 1]);
    EXPECT_NE(order[begin], order[begin + 2]);
    EXPECT_NE(order[begin + 1], order[begin + 2]);
}

/// The bound: a job that is due waits for at most one run of each other job, whether it was woken, its descriptor
/// became readable, or its time came.
TEST(HelperThread, a_job_that_is_due_waits_for_at_most_one_run_of_each_other_job) {
    constexpr int k_busy = 5;
    HelperThread helper;
    Counting woken;
    Reading told;
    Counting timed;
    woken.pause = HelperThread::k_until_woken;
    timed.pause = 50us;
    for (HelperThread::Job* const job :
         {static_cast<HelperThread::Job*>(&woken), static_cast<HelperThread::Job*>(&told),
          static_cast<HelperThread::Job*>(&timed)})
        helper.add(*job);
    int turn = 0;  // of the busy jobs; they all run on the helper thread
    int woken_at = 0, told_at = 0, runs_when_woken = 1, runs_when_told = 1;
    int longest_woken = 0, longest_told = 0;
    std::atomic<int> rounds{0};
    auto const busy = [&] {
        ++turn;
        if (woken.runs > runs_when_woken) {
            longest_woken = std::max(longest_woken, turn - 1 - woken_at);
            runs_when_woken = woken.runs;
            woken_at = turn;
            helper.wake(woken);
            ++rounds;
        }
        if (told.runs > runs_when_told) {
            longest_told = std::max(longest_told, turn - 1 - told_at);
            runs_when_told = told.runs;
            told_at = turn;
            told.tell(1);
            ++rounds;
        }
        return HelperThread::Clock::duration::zero();
    };
    std::vector<std::unique_ptr<Doing<decltype(busy)>>> jobs;
    woken.wait_for(1);
    told.wait_for(1);
    helper.wake(woken);
    told.tell(1);
    woken.wait_for(2);
    told.wait_for(2);
    runs_when_woken = woken.runs - 1;
    runs_when_told = told.runs - 1;
    for (int i = 0; i < k_busy; ++i) {
        jobs.push_back(std::make_unique<Doing<decltype(busy)>>(busy));
        helper.add(*jobs.back());
    }
    wait_until([&] { return rounds > 2000; });
    timed.wait_for(timed.runs + 20);
    for (auto const& job : jobs)
        helper.remove(*job);
    helper.remove(woken);
    helper.remove(told);
    helper.remove(timed);
    EXPECT_LE(longest_woken, k_busy - 1) << "the one that woke it has had its run";
    EXPECT_LE(longest_told, k_busy - 1);
}

/// A job that is removed never runs again, however its descriptor, its time and others' wakes come at that moment.
TEST(HelperThread, no_job_runs_after_it_was_removed) {
    struct Fragile final : HelperThread::Job {
        Descriptor event{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
        bool is_there = true;
        std::atomic<int>* wrong = nullptr;
        int descriptor() const noexcept override { return event.get(); }
        HelperThread::Clock::duration run() noexcept override {
            std::uint64_t value = 0;
            [[maybe_unused]] auto const had = read(event.get(), &value, sizeof value);
            if (!is_there) ++*wrong;
            return 10us;
        }
    };
    HelperThread helper;
    std::atomic<int> wrong{0};
    std::atomic<bool> over{false};
    std::array<Fragile, 8> jobs;
    for (Fragile& job : jobs)
        job.wrong = &wrong;
    std::thread waker([&] {
        std::minstd_rand random(1);
        while (!over) {
            Fragile& job = jobs[random() % jobs.size()];
            std::uint64_t const one = 1;
            EXPECT_EQ(write(job.event.get(), &one, sizeof one), sizeof one);
            helper.wake(jobs[random() % jobs.size()]);
        }
    });
    std::array<std::thread, 2> changers;
    for (std::size_t half = 0; half < changers.size(); ++half)
        changers[half] = std::thread([&, half] {
            std::minstd_rand random(static_cast<unsigned>(half + 2));
            for (int i = 0; i < 2000; ++i) {
                Fragile& job = jobs[half * 4 + random() % 4];
                helper.remove(job);
                job.is_there = false;  // a race with a run, had there been one
                if (i % 16 == 0) std::this_thread::yield();
                job.is_there = true;
                helper.add(job);
            }
        });
    for (std::thread& changer : changers)
        changer.join();
    over = true;
    waker.join();
    for (Fragile& job : jobs)
        helper.remove(job);
    EXPECT_EQ(wrong, 0);
}

TEST(HelperThread, jobs_may_add_wake_and_remove_others) {
    HelperThread helper;
    Counting other;
    other.pause = HelperThread::k_until_woken;
    int step = 0;
    std::atomic<bool> done{false};
    Doing job([&] {
        switch (step++ % 4) {
            case 0:
                helper.add(other);
                break;
            case 1:
                helper.wake(other);
                break;
            case 2:
                helper.remove(other);
                break;
            default:
                break;
        }
        done = step > 400;
        return HelperThread::Clock::duration::zero();
    });
    helper.add(job);
    wait_until([&] { return done.load(); });
    helper.remove(job);
    helper.remove(other);
    EXPECT_GE(other.runs, 100);
}

TEST(HelperThread, several_threads_may_add_the_first_job) {
    for (int i = 0; i < 50; ++i) {
        HelperThread helper;
        std::array<Counting, 4> jobs;
        std::vector<std::thread> threads;
        for (Counting& job : jobs)
            threads.emplace_back([&] { helper.add(job); });
        for (std::thread& thread : threads)
            thread.join();
        for (Counting& job : jobs) {
            job.wait_for(3);
            helper.remove(job);
        }
    }
}

}  // namespace
}  // namespace sluice::kernel
