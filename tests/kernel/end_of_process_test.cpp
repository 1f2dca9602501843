// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/process/end_of_process.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <functional>
#include <thread>

#include "kernel/process_stat.hpp"

namespace sluice::kernel {
namespace {

/// A process that lives until it is told to end in its way; it tells its mark through a pipe.
class Child {
  public:
    explicit Child(std::function<void()> const& ends) {
        if (pipe(mark_.data()) != 0 || pipe(order_.data()) != 0) return;
        number_ = fork();
        if (number_ == 0) live(ends);
        close(mark_[1]);
        close(order_[0]);
        std::array<char, sizeof mark> told{};
        if (read(mark_[0], told.data(), told.size()) == static_cast<ssize_t>(told.size()))
            mark = std::bit_cast<ProcessMark>(told);
    }
    Child(Child const&) = delete;
    Child& operator=(Child const&) = delete;
    ~Child() {
        close(mark_[0]);
        if (number_ <= 0) return;
        kill(number_, SIGKILL);
        bury();
    }

    void order_to_end() { close(order_[1]); }
    int bury() {
        int status = -1;
        waitpid(number_, &status, 0);
        number_ = -1;
        return status;
    }

    ProcessMark mark;

  private:
    [[noreturn]] void live(std::function<void()> const& ends) {
        rlimit const no_core{};
        setrlimit(RLIMIT_CORE, &no_core);
        std::signal(SIGSEGV, SIG_DFL);  // a library of MPI may have a handler
        std::signal(SIGABRT, SIG_DFL);
        ProcessMark const own = this_process();
        close(order_[1]);
        if (write(mark_[1], &own, sizeof own) != static_cast<ssize_t>(sizeof own)) _exit(1);
        char byte = 0;
        while (read(order_[0], &byte, 1) > 0) {
        }
        ends();
        _exit(99);
    }

    std::array<int, 2> mark_{-1, -1};
    std::array<int, 2> order_{-1, -1};
    pid_t number_ = -1;
};

void wait_for(EndOfProcess const& end) {
    while (!end.has_ended())
        std::this_thread::yield();
}

TEST(EndOfProcess, tells_what_the_parent_is_told) {
    struct Way {
        char const* name;
        std::function<void()> ends;
        int status;
    };
    std::array<Way, 7> const ways{{{"exit code 0", [] { _exit(0); }, 0},
                                   {"exit code 3", [] { _exit(3); }, 3 << 8},
                                   {"exit code 255", [] { _exit(-1); }, 255 << 8},
                                   {"abort", [] { std::abort(); }, SIGABRT},
                                   {"terminate", [] { std::terminate(); }, SIGABRT},
                                   {"a signal of its own", [] { raise(SIGSEGV); }, SIGSEGV},
                                   {"killed", [] { kill(getpid(), SIGKILL); }, SIGKILL}}};
    for (Way const& way : ways) {
        Child child(way.ends);
        EndOfProcess const end(child.mark);
        ASSERT_TRUE(end.is_open()) << way.name;
        EXPECT_FALSE(end.has_ended()) << way.name;
        EXPECT_EQ(end.status(), std::nullopt) << way.name;
        child.order_to_end();
        wait_for(end);
        EXPECT_TRUE(end.has_ended()) << way.name;
        EXPECT_EQ(end.status(), way.status) << way.name << ", before its parent has asked";
        EXPECT_EQ(child.bury(), way.status) << way.name;
        EXPECT_TRUE(end.has_ended()) << way.name;
        EXPECT_EQ(end.status().value_or(way.status), way.status) << way.name << ", after its parent has asked";
    }
}

TEST(EndOfProcess, is_still_told_when_the_parent_has_asked) {
    Child child([] { _exit(7); });
    EndOfProcess const end(child.mark);
    child.order_to_end();
    child.bury();
    wait_for(end);
    if (!end.status()) GTEST_SKIP() << "Linux tells how a process ended after its parent has asked since 6.15";
    EXPECT_EQ(end.status(), 7 << 8);
}

TEST(EndOfProcess, is_not_that_of_the_main_thread_if_others_go_on) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    Child child([&ends] {
        std::thread([read_end = ends[0]] {
            char byte = 0;
            if (read(read_end, &byte, 1) == 1) _exit(5);
        }).detach();
        syscall(SYS_exit, 0);  // of this thread alone
    });
    EndOfProcess const end(child.mark);
    child.order_to_end();
    while (process_stat(static_cast<pid_t>(child.mark.number))->state != 'Z')
        std::this_thread::yield();
    EXPECT_FALSE(end.has_ended());
    EXPECT_EQ(end.status(), std::nullopt);
    ASSERT_EQ(write(ends[1], "x", 1), 1);
    wait_for(end);
    EXPECT_EQ(end.status(), 5 << 8);
    close(ends[0]);
    close(ends[1]);
}

TEST(EndOfProcess, is_not_that_of_another_process) {
    Child child([] { _exit(0); });
    ProcessMark mark = child.mark;
    ++mark.started;
    EXPECT_FALSE(EndOfProcess(mark).is_open()) << "a later process with the same number";
    mark = child.mark;
    ++mark.machine;
    EXPECT_FALSE(EndOfProcess(mark).is_open()) << "another machine, or another space of process numbers";
    mark = child.mark;
    child.order_to_end();
    child.bury();
    EXPECT_FALSE(EndOfProcess(mark).is_open()) << "it has ended before";
    EXPECT_FALSE(EndOfProcess(ProcessMark{}).is_open());
    EXPECT_FALSE(EndOfProcess{}.has_ended());
    EXPECT_EQ(EndOfProcess{}.status(), std::nullopt);
}

}  // namespace
}  // namespace sluice::kernel
