// SPDX-License-Identifier: BSD-3-Clause
#include "report/read/fate.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace sluice::report {
namespace {

/// A process that waits to be killed; it makes a mark of itself, which it sends through a pipe.
class Child {
  public:
    Child() {
        int ends[2] = {-1, -1};
        if (pipe(ends) != 0) return;
        number_ = fork();
        if (number_ == 0) {
            kernel::ProcessMark const own = kernel::this_process();
            if (write(ends[1], &own, sizeof own) != static_cast<ssize_t>(sizeof own)) _exit(1);
            for (;;)
                pause();
        }
        if (read(ends[0], &mark, sizeof mark) != static_cast<ssize_t>(sizeof mark)) mark = {};
        close(ends[0]);
        close(ends[1]);
    }
    Child(Child const&) = delete;
    Child& operator=(Child const&) = delete;
    ~Child() {
        kill_it();
        bury();
    }
    void kill_it() const {
        if (number_ > 0) kill(number_, SIGKILL);
    }
    /// Collects the exit code; only then the process number is free.
    void bury() {
        if (number_ > 0) waitpid(number_, nullptr, 0);
        number_ = -1;
    }
    /// Waits until the process has ended; its exit code remains uncollected.
    void wait_until_dead() const {
        siginfo_t info{};
        waitid(P_PID, static_cast<id_t>(number_), &info, WEXITED | WNOWAIT);
    }

    kernel::ProcessMark mark;

  private:
    pid_t number_ = -1;
};

TEST(Fate, of_a_process_that_lives_is_alive) {
    EXPECT_EQ(kernel::life_of(kernel::this_process()), kernel::Life::alive);
    Child const child;
    EXPECT_EQ(kernel::life_of(child.mark), kernel::Life::alive);
    EXPECT_NE(child.mark, kernel::this_process());
}

TEST(Fate, of_a_killed_process_is_gone_also_before_its_parent_has_asked) {
    Child child;
    child.kill_it();
    child.wait_until_dead();
    EXPECT_EQ(kernel::life_of(child.mark), kernel::Life::gone);
    child.bury();
    EXPECT_EQ(kernel::life_of(child.mark), kernel::Life::gone);
}

TEST(Fate, is_not_that_of_another_process_with_the_same_number) {
    kernel::ProcessMark mark = kernel::this_process();
    --mark.started;
    EXPECT_EQ(kernel::life_of(mark), kernel::Life::gone);
}

TEST(Fate, of_another_machine_or_of_nobody_cannot_be_told) {
    kernel::ProcessMark mark = kernel::this_process();
    ++mark.machine;
    EXPECT_EQ(kernel::life_of(mark), kernel::Life::elsewhere);
    EXPECT_EQ(kernel::life_of({}), kernel::Life::elsewhere);
}

TEST(Fate, of_a_rank_follows_from_its_process_or_its_silence) {
    std::uint64_t const now = 1'000'000'000'000;
    record::RankHead head;
    head.start_unix_us = now - 10'000'000;
    head.now_us = 9'000'000;
    head.process = kernel::this_process();
    EXPECT_EQ(fate_of(head, now), record::State::running);
    head.state = record::State::finalizing;
    EXPECT_EQ(fate_of(head, now), record::State::finalizing);
    --head.process.started;
    EXPECT_EQ(fate_of(head, now), record::State::gone);
    ++head.process.machine;
    EXPECT_EQ(fate_of(head, now), record::State::unknown);
    EXPECT_EQ(fate_of(head, now + 118'000'000), record::State::unknown) << "119 s of silence";
    EXPECT_EQ(fate_of(head, now + 120'000'000), record::State::gone) << "121 s of silence";
    for (record::State const state : {record::State::ended, record::State::exited, record::State::aborted}) {
        head.state = state;
        EXPECT_EQ(fate_of(head, now + 200'000'000), state) << "what a rank says of itself stands";
    }
}

TEST(Fate, of_a_rank_whose_end_was_seen_is_known_also_elsewhere) {
    std::uint64_t const now = 1'000'000'000'000;
    record::RankHead head;
    head.start_unix_us = now - 10'000'000;
    head.now_us = 9'900'000;
    head.process = {1, 2, 3, 0};  // of another machine
    EXPECT_EQ(fate_of(head, now), record::State::unknown);
    EXPECT_FALSE(end_of(head)) << "it may run";
    head.end_seen = {1, SIGSEGV, now - 50'000};
    EXPECT_EQ(fate_of(head, now), record::State::gone);
    head.state = record::State::gone;
    auto const end = end_of(head);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->how, How::killed);
    EXPECT_EQ(end->code, SIGSEGV);
    EXPECT_EQ(end->unix_us, now - 50'000);
}

TEST(Fate, of_a_rank_is_what_it_says_itself_and_then_what_was_seen) {
    record::RankHead head;
    head.start_unix_us = 1000;
    head.now_us = 70;
    head.end_unix_us = 1050;
    head.state = record::State::gone;
    EXPECT_EQ(end_of(head)->how, How::unknown);
    EXPECT_EQ(end_of(head)->unix_us, 1070U) << "its last sign of life";
    head.end_seen = {1, record::k_not_told, 1080};
    EXPECT_EQ(end_of(head)->how, How::unknown);
    EXPECT_EQ(end_of(head)->unix_us, 1080U);
    head.state = record::State::exited;
    EXPECT_EQ(end_of(head)->how, How::exited);
    EXPECT_FALSE(end_of(head)->code);
    EXPECT_EQ(end_of(head)->unix_us, 1050U) << "when it called exit";
    head.exit_code = 3;
    EXPECT_EQ(end_of(head)->code, 3);
    head.end_seen.status = 5 << 8;  // a function that ran at exit ended the process otherwise
    EXPECT_EQ(end_of(head)->code, 5);
    head.end_seen.status = SIGABRT;
    EXPECT_EQ(end_of(head)->how, How::killed);
    head.state = record::State::aborted;
    head.abort_code = -1;
    EXPECT_EQ(end_of(head)->how, How::aborted);
    EXPECT_EQ(end_of(head)->code, -1);
    head.aborted_by_mpi = 1;
    EXPECT_EQ(end_of(head)->how, How::failed);
    EXPECT_EQ(end_of(head)->code, -1);
    for (record::State const state :
         {record::State::running, record::State::finalizing, record::State::ended, record::State::unknown}) {
        head.state = state;
        EXPECT_FALSE(end_of(head));
    }
}

}  // namespace
}  // namespace sluice::report
