// SPDX-License-Identifier: BSD-3-Clause
/// The helper thread and its process: stack, signals, fork, and a program that closes everything.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <memory>
#include <set>
#include <string>

#include "kernel/helper_jobs.hpp"
#include "kernel/helper_thread.hpp"
#include "sluice/error.hpp"
#include "support/limits/descriptors.hpp"

namespace sluice::kernel {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t k_deep = HelperThread::k_stack_bytes * 3 / 4;
constexpr std::size_t k_big = 1 << 20;
thread_local std::array<char, k_big> g_variables_of_the_program;  // larger than the stack that a job has

/// Ends well if the child does.
template <typename Function>
void in_child(Function const& function) {
    pid_t const child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);  // it has no watchdog of its own
        _exit(function() ? 0 : 1);
    }
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

/// The plugin of every rank has one, so its stack is small; thread-local variables of the program do not take it up.
TEST(HelperProcess, has_a_small_stack_a_name_and_no_signals) {
    HelperThread helper;
    std::atomic<std::size_t> stack{0};
    std::atomic<int> touched{0};
    std::array<char, 16> name{};
    std::atomic<bool> blocked{false};
    Doing job([&] {
        pthread_attr_t attributes;
        pthread_getattr_np(pthread_self(), &attributes);
        std::size_t bytes = 0;
        void* lowest = nullptr;
        pthread_attr_getstack(&attributes, &lowest, &bytes);
        pthread_attr_destroy(&attributes);
        char volatile deep[k_deep];
        for (std::size_t i = 0; i < k_deep; i += 512)
            deep[i] = 1;
        for (std::size_t i = 0; i < k_deep; i += 512)
            touched += deep[i];
        for (std::size_t i = 0; i < k_big; i += 512)
            touched += ++g_variables_of_the_program[i];
        pthread_getname_np(pthread_self(), name.data(), name.size());
        sigset_t mask;
        pthread_sigmask(SIG_BLOCK, nullptr, &mask);
        blocked = sigismember(&mask, SIGUSR1) == 1 && sigismember(&mask, SIGCHLD) == 1;
        stack = bytes;
        return HelperThread::k_until_woken;
    });
    helper.add(job);
    wait_until([&] { return stack != 0; });
    helper.remove(job);
    EXPECT_GE(stack, HelperThread::k_stack_bytes);
    EXPECT_LT(stack, HelperThread::k_stack_bytes + 2 * k_big);
    EXPECT_EQ(static_cast<std::size_t>(touched), (k_deep + k_big) / 512);
    EXPECT_EQ(std::string(name.data()), "sluice-helper");
    EXPECT_TRUE(blocked);
}

TEST(HelperProcess, a_child_of_fork_has_no_jobs_of_its_parent) {
    auto helper = std::make_unique<HelperThread>();
    Reading reading;
    Counting busy;
    busy.pause = 0ns;
    helper->add(reading);
    helper->add(busy);
    for (int i = 0; i < 20; ++i)  // the thread may hold any lock while the process forks
        in_child([&] {
            int const before = busy.runs;
            helper->wake(busy);
            helper->remove(busy);
            helper->remove(reading);
            helper.reset();
            return busy.runs == before;
        });
    std::uint64_t const before = reading.sum;
    reading.tell(1);
    wait_until([&] { return reading.sum == before + 1; });  // what children removed is still there
    helper->remove(reading);
    helper->remove(busy);
}

TEST(HelperProcess, a_child_of_fork_can_have_a_thread_of_its_own) {
    HelperThread helper;
    Reading parents;
    helper.add(parents);
    parents.wait_for(1);
    in_child([&] {
        bool worked = false;
        {
            Reading own;
            helper.add(own);
            own.tell(1);
            wait_until([&] { return own.sum == 1; });
            helper.add(parents);  // here, too
            int const runs = parents.runs;
            helper.wake(parents);
            parents.wait_for(runs + 1);
            helper.remove(own);
            worked = true;
        }
        helper.remove(parents);
        return worked;
    });
    std::uint64_t const before = parents.sum;
    parents.tell(1);
    wait_until([&] { return parents.sum == before + 1; });
    helper.remove(parents);
}

TEST(HelperProcess, has_no_descriptor_while_no_job_has_one) {
    std::set<int> const before = tests::open_descriptors();
    HelperThread helper;
    Counting job;
    helper.add(job);
    job.wait_for(10);
    EXPECT_EQ(tests::open_descriptors(), before);
    Reading reading;
    std::set<int> const with_event = tests::open_descriptors();
    helper.add(reading);
    reading.tell(1);
    wait_until([&] { return reading.sum == 1; });
    EXPECT_EQ(tests::open_descriptors().size(), with_event.size() + 3);
    helper.remove(reading);
    helper.remove(job);
}

/// What a job opens there takes no number of the program, is not closed by it, and is not inherited.
TEST(HelperProcess, a_thread_with_descriptors_of_its_own_shares_none_with_the_program) {
    std::set<int> const before = tests::open_descriptors();
    HelperThread helper(HelperThread::Table::its_own);
    std::atomic<int> opened{-1};
    std::atomic<int> reads{0};
    std::atomic<int> failures{0};
    Doing job([&] {
        if (opened < 0) opened = open("/dev/zero", O_RDONLY);
        char byte = 1;
        if (read(opened, &byte, 1) != 1 || byte != 0) ++failures;
        ++reads;
        return std::chrono::microseconds(100);
    });
    helper.add(job);
    wait_until([&] { return reads > 3; });
    EXPECT_EQ(tests::open_descriptors(), before);
    in_child([&] { return tests::open_descriptors() == before; });
    {
        tests::DescriptorLimit const limit(3);
        int const then = reads;
        wait_until([&] { return reads > then + 3; });
    }
    EXPECT_EQ(failures, 0);
    Reading needs_the_programs;
    EXPECT_THROW(helper.add(needs_the_programs), Error);
    helper.remove(job);
    EXPECT_EQ(tests::open_descriptors().size(), before.size() + 1) << "that of the job that was refused";
}

/// Programs that become daemons close everything.
TEST(HelperProcess, keeps_time_and_ends_if_the_program_closes_its_descriptors) {
    in_child([] {
        HelperThread idle;
        HelperThread helper;
        Counting sleepy;
        Counting job;
        sleepy.pause = HelperThread::k_until_woken;
        idle.add(sleepy);
        helper.add(job);
        job.wait_for(10);
        for (int descriptor = 3; descriptor < 1024; ++descriptor)
            syscall(SYS_close, descriptor);  // unseen by the thread sanitizer, for it is a race
        int const then = job.runs;
        job.wait_for(then + 10);
        int const before = sleepy.runs;
        idle.wake(sleepy);
        sleepy.wait_for(before + 1);
        helper.remove(job);
        idle.remove(sleepy);
        return true;
    });
}

}  // namespace
}  // namespace sluice::kernel
