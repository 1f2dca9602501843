// SPDX-License-Identifier: BSD-3-Clause
/// The kernel's signals about a control group: in groups made for the test, which needs root, and in a made-up tree.
#include "budget/usage_events.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "budget/test_group.hpp"
#include "budget/usage_events_bed.hpp"
#include "support/neighbour.hpp"

namespace sluice::tests {
namespace {

TEST_F(UsageEventsTest, are_told_when_a_mark_is_passed_in_either_direction) {
    TestGroup const group(own_group());
    if (!can_mark(group)) GTEST_SKIP() << k_no_group;
    group.set("memory.limit_in_bytes", std::to_string((64_MiB).count));
    Neighbour const neighbour;
    group.add(neighbour.process());
    budget::UsageEvents events(place_in(group.folder(), 64_MiB), helper());
    wait_until_marked(events, 64_MiB);
    neighbour.take(20);
    static_cast<void>(events.told());
    neighbour.take(4);
    EXPECT_FALSE(events.told()) << "24 MiB of 64: below the first mark";
    neighbour.take(14);
    wait_until([&] { return events.told(); });  // 38 MiB: above the first mark
    EXPECT_FALSE(events.told()) << "once";
    neighbour.take(4);
    EXPECT_FALSE(events.told()) << "42 MiB: between two marks";
    neighbour.free(18);
    wait_until([&] { return events.told(); });  // back to 24 MiB, below the mark
}

TEST_F(UsageEventsTest, follow_a_limit_that_changes) {
    TestGroup const group(own_group());
    if (!can_mark(group)) GTEST_SKIP() << k_no_group;
    group.set("memory.limit_in_bytes", std::to_string((256_MiB).count));
    Neighbour const neighbour;
    group.add(neighbour.process());
    budget::UsageEvents events(place_in(group.folder(), 256_MiB), helper());
    wait_until_marked(events, 256_MiB);
    neighbour.take(30);
    static_cast<void>(events.told());
    neighbour.take(14);
    EXPECT_FALSE(events.told()) << "44 MiB of 256";
    group.set("memory.limit_in_bytes", std::to_string((64_MiB).count));
    events.follow(64_MiB);
    wait_until_marked(events, 64_MiB);
    static_cast<void>(events.told());
    neighbour.take(8);
    wait_until([&] { return events.told(); });  // 52 MiB of 64: above three quarters
}

/// Always wants to run, and sees between which of its runs marks are set. All this is on the helper thread.
struct Neighbouring final : kernel::HelperThread::Job {
    explicit Neighbouring(budget::UsageEvents const& events) : events_(events) {}
    kernel::HelperThread::Clock::duration run() noexcept override {
        unsigned const marks = events_.marks();
        most_at_once = std::max(most_at_once, marks - std::min(marks, seen_));
        seen_ = marks;
        return kernel::HelperThread::Clock::duration::zero();
    }
    unsigned most_at_once = 0;

  private:
    budget::UsageEvents const& events_;
    unsigned seen_ = 0;
};

TEST_F(UsageEventsTest, are_set_by_the_helper_thread_which_runs_other_jobs_between_any_two) {
    TestGroup const group(own_group());
    if (!can_mark(group)) GTEST_SKIP() << k_no_group;
    std::size_t const before = threads_of_this_process();
    auto shared = helper();
    {
        budget::UsageEvents early(place_in(group.folder(), 64_MiB), shared);
        early.follow(64_MiB);
        EXPECT_EQ(threads_of_this_process(), before) << "an object that lives for a moment needs no thread";
    }
    {
        budget::UsageEvents events(place_in(group.folder(), 64_MiB), shared);
        budget::UsageEvents last_of_many(place_in(group.folder(), 64_MiB), shared, 1023);
        Neighbouring other(events);
        shared->add(other);
        wait_until_marked(events, 64_MiB);
        last_of_many.follow(64_MiB);
        EXPECT_EQ(threads_of_this_process(), before + 1) << "all jobs share it";
        EXPECT_FALSE(last_of_many.is_listening()) << "its turn has not come";
        shared->remove(other);
        EXPECT_EQ(other.most_at_once, 1U);
    }
    auto marking = std::make_unique<budget::UsageEvents>(place_in(group.folder(), 64_MiB), shared);
    std::this_thread::sleep_for(budget::UsageEvents::k_settling);
    marking->follow(64_MiB);
    pid_t const child = fork();
    if (child == 0) {
        marking.reset();  // which has no such thread here
        shared.reset();
        _exit(0);
    }
    marking.reset();  // while marks are set
    shared.reset();
    int status = 1;
    wait_until([&] { return waitpid(child, &status, WNOHANG) == child; });
    EXPECT_EQ(status, 0);
    wait_until([&] { return threads_of_this_process() == before; });
}

/// The kernel reports changes of cgroup.events as it does those of memory.events, and needs no memory controller for
/// it.
TEST_F(UsageEventsTest, are_told_of_version_two_when_its_file_has_news) {
    TestGroup const group(hierarchy_of_version_two());
    if (group.folder().empty()) GTEST_SKIP() << "no control group of version 2 can be made here (needs root)";
    std::filesystem::create_symlink(group.folder() + "/cgroup.events", root_ + "/memory.events");
    budget::UsageEvents events({budget::MemoryPlace::Kind::cgroup_v2, {64_MiB, {}, "cgroup v2"}, root_, "memory.max"},
                               helper());
    events.follow(64_MiB);
    EXPECT_TRUE(events.is_listening());
    EXPECT_FALSE(events.told());
    {
        Neighbour const neighbour;
        group.add(neighbour.process());
        wait_until([&] { return events.told(); });  // a process has joined
        EXPECT_FALSE(events.told()) << "once";
    }
    wait_until([&] { return events.told(); });  // it has left
}

TEST_F(UsageEventsTest, are_never_told_where_the_kernel_gives_none) {
    group_one(192_MiB, 60_MiB);
    budget::UsageEvents none(place_in(root_ + "/sys/fs/cgroup/memory/job", 192_MiB), helper());
    write("/two/memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n");
    budget::UsageEvents silent(
        {budget::MemoryPlace::Kind::cgroup_v2, {64_MiB, {}, "cgroup v2"}, root_ + "/two", "memory.max"}, helper());
    std::this_thread::sleep_for(budget::UsageEvents::k_settling);
    std::size_t const before = threads_of_this_process();
    for (budget::UsageEvents* const events : {&none, &silent}) {
        events->follow(192_MiB);
        EXPECT_FALSE(events->told());
    }
    EXPECT_FALSE(none.is_listening());
    EXPECT_EQ(threads_of_this_process(), before);
}

}  // namespace
}  // namespace sluice::tests
