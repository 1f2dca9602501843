// SPDX-License-Identifier: BSD-3-Clause
/// M_C while memory is taken and freed, by one process alone and with others.
#include "budget/adaptation.hpp"

#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "budget/made_up_node.hpp"
#include "budget/test_group.hpp"
#include "support/limits/descriptors.hpp"
#include "support/neighbour.hpp"

namespace sluice::tests {
namespace {

/// The objects that one process of the node has.
struct Member {
    explicit Member(budget::Adaptation::Options const& options)
        : adaptation(std::make_shared<budget::Adaptation>(options)),
          budget(adaptation->m_c(), adaptation->has_ledger() ? adaptation : nullptr) {
        look();
    }
    void look() { adaptation->look(budget); }
    std::optional<Lease> lease(Bytes amount) { return budget.try_lease(amount, Purpose::fetched); }

    std::shared_ptr<budget::Adaptation> adaptation;
    Budget budget;
};

class AdaptationTest : public MadeUpNode {
  protected:
    budget::Adaptation::Options options() const {
        budget::Adaptation::Options options;
        options.root = root_;
        return options;
    }
    /// The limit may be lower by at most two bands of hysteresis.
    static void expect_about(Bytes found, Bytes computed) {
        EXPECT_LE(found, computed);
        EXPECT_GE(found + computed / 32, computed);
    }
};

TEST_F(AdaptationTest, is_what_m_and_m_a_and_the_reserve_leave) {
    group_one(192_MiB, 80_MiB, 16_MiB);
    Member alone(options());
    budget::Adaptation::Account const account = alone.adaptation->account();
    EXPECT_EQ(account.m, 192_MiB);
    EXPECT_EQ(account.m_a, 64_MiB);
    EXPECT_EQ(account.reserve, 3_MiB);
    EXPECT_EQ(account.m_c, 125_MiB);
    EXPECT_NE(account.source.find("/job/memory.limit_in_bytes"), std::string::npos) << account.source;
    expect_about(alone.budget.limit(), 125_MiB);
    EXPECT_EQ(alone.adaptation->ceiling(), 189_MiB);
}

TEST_F(AdaptationTest, has_one_descriptor_for_a_file_or_none_at_all) {
    group_one(192_MiB, 80_MiB, 16_MiB);
    limits("3221225472", "4294967296");
    budget::Adaptation::Options options = this->options();
    options.node_memory = 1_GiB;
    options.share = false;
    std::set<int> const before = open_descriptors();
    {
        Member member(options);
        // limit, usage and memory.stat of the group; statm, limits and meminfo
        EXPECT_EQ(open_descriptors().size(), before.size() + 6);
    }
    EXPECT_EQ(open_descriptors(), before);
    options.share = true;
    options.files = budget::Files::opened;
    Member member(options);
    ASSERT_TRUE(member.adaptation->has_ledger());
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_EQ(member.adaptation->account().m_a, 64_MiB);
    group_one(192_MiB, 100_MiB, 16_MiB);
    {
        DescriptorLimit const none_free(3);
        member.look();
        EXPECT_EQ(member.adaptation->account().m_a, 64_MiB) << "as of the last look that could read";
    }
    member.look();
    EXPECT_EQ(member.adaptation->account().m_a, 84_MiB);
    EXPECT_EQ(open_descriptors(), before);
}

TEST_F(AdaptationTest, takes_the_reserve_that_was_set) {
    group_one(192_MiB, 80_MiB);
    budget::Adaptation::Options options = this->options();
    options.reserve = 40_MiB;
    EXPECT_EQ(Member(options).adaptation->account().m_c, 72_MiB);
    EXPECT_EQ(budget::automatic_reserve(192_MiB), 3_MiB);
    EXPECT_EQ(budget::automatic_reserve(10_MiB), 1_MiB);
    EXPECT_EQ(budget::automatic_reserve(Bytes{std::uint64_t{1} << 40}), 256_MiB);
}

TEST_F(AdaptationTest, shrinks_and_grows_with_what_others_take_and_free) {
    group_one(192_MiB, 60_MiB);
    Member alone(options());
    expect_about(alone.budget.limit(), 129_MiB);
    group_one(192_MiB, 160_MiB);
    alone.look();
    expect_about(alone.budget.limit(), 29_MiB);
    EXPECT_FALSE(alone.lease(30_MiB));
    group_one(192_MiB, 191_MiB);
    alone.look();
    EXPECT_EQ(alone.budget.limit(), 0_B);
    EXPECT_TRUE(alone.lease(64_KiB)) << "the guaranteed minimum";
    group_one(192_MiB, 60_MiB);
    alone.look();
    expect_about(alone.budget.limit(), 129_MiB);
    EXPECT_TRUE(alone.lease(100_MiB));
}

TEST_F(AdaptationTest, follows_a_limit_that_changes) {
    group_one(192_MiB, 60_MiB);
    Member alone(options());
    group_one(128_MiB, 60_MiB);
    alone.look();
    expect_about(alone.budget.limit(), 66_MiB);
    EXPECT_EQ(alone.adaptation->account().m, 128_MiB);
    group_one(1_GiB, 60_MiB);
    alone.look();
    expect_about(alone.budget.limit(), 1_GiB - 60_MiB - 16_MiB);
}

TEST_F(AdaptationTest, does_not_follow_every_page) {
    group_one(192_MiB, 60_MiB);
    Member alone(options());
    unsigned changes = 0;
    Bytes last = alone.budget.limit();
    for (std::uint64_t i = 0; i < 200; ++i) {
        group_one(192_MiB, 60_MiB + 100_KiB * (i % 7));  // 600 KiB up and down
        alone.look();
        if (alone.budget.limit() != last) ++changes;
        last = alone.budget.limit();
    }
    EXPECT_LE(changes, 1U);
    EXPECT_EQ(budget::steadied(100_MiB, 100_MiB), 100_MiB);
    EXPECT_EQ(budget::steadied(100_MiB, 102_MiB), 100_MiB);
    EXPECT_LT(budget::steadied(100_MiB, 99_MiB), 99_MiB);
    EXPECT_GT(budget::steadied(100_MiB, 120_MiB), 110_MiB);
    EXPECT_LT(budget::steadied(100_MiB, 120_MiB), 120_MiB);
    EXPECT_EQ(budget::steadied(100_MiB, 0_B), 0_B);
}

TEST_F(AdaptationTest, does_not_take_what_leases_hold_for_the_programs_own_use) {
    group_one(192_MiB, 60_MiB);
    Member alone(options());
    Bytes const before = alone.budget.limit();
    Lease const lease = *alone.lease(50_MiB);
    alone.budget.add_resident(50_MiB);
    group_one(192_MiB, 110_MiB);
    alone.look();
    EXPECT_EQ(alone.adaptation->account().m_a, 60_MiB);
    EXPECT_EQ(alone.budget.limit(), before);
    EXPECT_TRUE(alone.lease(70_MiB));
}

TEST_F(AdaptationTest, takes_what_is_resident_and_nobody_has_leased_for_the_programs_own_use) {
    group_one(192_MiB, 60_MiB);
    Member alone(options());
    Lease const lease = *alone.lease(50_MiB);
    alone.budget.add_resident(90_MiB);
    group_one(192_MiB, 150_MiB);
    alone.look();
    EXPECT_GT(alone.adaptation->account().m_a, 90_MiB) << "others must not lease it";
    EXPECT_LE(alone.adaptation->account().m_a, 100_MiB);
}

TEST_F(AdaptationTest, lets_a_process_have_what_another_does_not_use) {
    group_one(192_MiB, 60_MiB);
    Member one(options());
    Member two(options());
    ASSERT_TRUE(one.adaptation->has_ledger()) << one.adaptation->account().ledger;
    Lease most = *one.lease(100_MiB);
    EXPECT_FALSE(two.lease(40_MiB)) << "together they would hold more than M_C";
    EXPECT_TRUE(two.lease(10_MiB));
    Bytes got;
    two.budget.when_free(40_MiB, Purpose::fetched, [&](Lease lease) { got = lease.amount(); });
    two.look();
    EXPECT_EQ(got, 0_B);
    most.release();
    one.look();  // gives memory back
    two.look();
    EXPECT_EQ(got, 40_MiB);
    EXPECT_EQ(two.adaptation->account().processes, 2U);
}

TEST_F(AdaptationTest, does_not_count_twice_what_another_process_has_just_given_back) {
    group_one(192_MiB, 60_MiB);
    Member one(options());
    Member two(options());
    Lease const lease = *two.lease(60_MiB);
    two.budget.add_resident(60_MiB);
    group_one(192_MiB, 120_MiB);
    two.look();
    one.look();
    expect_about(one.budget.limit(), 129_MiB);
    // The process unmaps 50 MiB and has not looked again yet.
    two.budget.remove_resident(50_MiB);
    group_one(192_MiB, 70_MiB);
    one.look();
    expect_about(one.budget.limit(), 129_MiB);
}

TEST_F(AdaptationTest, gives_everybody_the_guaranteed_minimum) {
    group_one(192_MiB, 60_MiB);
    Member one(options());
    Lease const all = *one.lease(one.budget.limit());
    std::vector<std::unique_ptr<Member>> others;
    std::vector<Lease> leases;
    for (int i = 0; i < 8; ++i) {
        others.push_back(std::make_unique<Member>(options()));
        std::optional<Lease> lease = others.back()->lease(Budget::guaranteed_minimum);
        ASSERT_TRUE(lease);
        leases.push_back(*std::move(lease));
        EXPECT_FALSE(others.back()->lease(1_MiB));
    }
}

TEST_F(AdaptationTest, starves_nobody) {
    group_one(192_MiB, 60_MiB);
    Member greedy(options());
    Member poor(options());
    // Sixteen leases are always held: one is given back, one is taken.
    std::vector<std::optional<Lease>> held(16);
    auto const churn = [&](std::size_t i) {
        held[i].reset();
        held[i] = greedy.lease(7_MiB);
    };
    for (std::size_t i = 0; i < held.size(); ++i)
        churn(i);
    EXPECT_TRUE(held.back().has_value()) << "all but little is taken";
    std::optional<Lease> got = poor.lease(40_MiB);
    EXPECT_FALSE(got);
    for (std::size_t round = 0; round < 40 && !got; ++round) {
        greedy.look();
        poor.look();
        churn(round % held.size());
        got = poor.lease(40_MiB);
    }
    EXPECT_TRUE(got) << "two thirds of an even share";
    // The process that was held back continues when no other process waits any more.
    got.reset();
    for (int i = 0; i < 3; ++i) {
        poor.look();
        greedy.look();
    }
    EXPECT_TRUE(greedy.lease(7_MiB));
}

TEST_F(AdaptationTest, gives_what_a_killed_process_held_to_those_who_wait) {
    group_one(192_MiB, 60_MiB);
    Member one(options());
    int ends[2]{};
    ASSERT_EQ(pipe(ends), 0);
    pid_t const child = fork();
    if (child == 0) {
        Member holder(options());
        std::optional<Lease> const lease = holder.lease(110_MiB);
        char const c = lease ? 'y' : 'n';
        if (::write(ends[1], &c, 1) == 1) pause();
        _exit(1);
    }
    char said = 0;
    ASSERT_EQ(read(ends[0], &said, 1), 1);
    EXPECT_EQ(said, 'y');
    EXPECT_FALSE(one.lease(100_MiB));
    bool got = false;
    one.budget.when_free(100_MiB, Purpose::fetched, [&](Lease const& lease) { got = lease.amount() == 100_MiB; });
    one.look();
    EXPECT_FALSE(got);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    one.look();
    EXPECT_TRUE(got);
    close(ends[0]);
    close(ends[1]);
}

TEST_F(AdaptationTest, makes_all_give_way_where_memory_becomes_less_than_they_have_claimed) {
    group_one(192_MiB, 60_MiB);
    Member one(options());
    Member two(options());
    Lease first = *one.lease(50_MiB);
    Lease second = *two.lease(50_MiB);
    one.budget.add_resident(50_MiB);
    two.budget.add_resident(50_MiB);
    group_one(192_MiB, 180_MiB);  // 20 MiB of it belong to another process
    one.look();
    two.look();
    one.look();
    EXPECT_EQ(one.adaptation->account().m_a, 80_MiB);
    first.release();
    one.budget.remove_resident(50_MiB);
    group_one(192_MiB, 180_MiB);  // the other process takes that too
    one.look();
    two.look();
    EXPECT_FALSE(one.lease(10_MiB));
    EXPECT_FALSE(two.lease(10_MiB));
    EXPECT_TRUE(one.lease(5_MiB)) << "192 - 130 - 3 - 50, less the band";
}

TEST_F(AdaptationTest, holds_a_process_to_its_own_limit_in_addition) {
    group_one(192_MiB, 60_MiB);
    budget::Adaptation::Options small = options();
    small.memory = 120_MiB;  // 100 MiB of which are resident
    Member one(small);
    Member two(options());
    expect_about(one.budget.limit(), 20_MiB);
    EXPECT_EQ(one.adaptation->account().source, "setting");
    expect_about(two.budget.limit(), 129_MiB);
    EXPECT_FALSE(one.lease(21_MiB));
    EXPECT_TRUE(two.lease(100_MiB));
}

TEST_F(AdaptationTest, holds_all_of_a_node_to_node_memory) {
    group_one(1_GiB, 60_MiB);
    budget::Adaptation::Options both = options();
    both.node_memory = 200_MiB;  // each holds 80 MiB alone
    Member one(both);
    EXPECT_EQ(one.adaptation->account().m_c, 120_MiB);
    EXPECT_EQ(one.adaptation->account().source, "setting node_memory");
    Member two(both);
    one.look();
    expect_about(one.budget.limit(), 40_MiB);
    Lease const lease = *one.lease(30_MiB);
    EXPECT_FALSE(two.lease(20_MiB));
    EXPECT_TRUE(two.lease(5_MiB));
}

TEST_F(AdaptationTest, has_an_even_share_where_there_is_no_ledger) {
    group_one(192_MiB, 60_MiB);
    budget::Adaptation::Options alone = options();
    alone.share = false;
    alone.processes = 3;
    Member member(alone);
    EXPECT_FALSE(member.adaptation->has_ledger());
    EXPECT_EQ(member.adaptation->account().m_c, 43_MiB);
    member.budget.add_resident(30_MiB);
    group_one(192_MiB, 90_MiB);
    member.look();
    EXPECT_EQ(member.adaptation->account().m_c, 30_MiB + 33_MiB) << "what it has, and a third of what is free";
}

TEST_F(AdaptationTest, lets_each_group_have_a_ledger_of_its_own) {
    group_one(192_MiB, 60_MiB);
    Member one(options());
    write("/proc/self/cgroup", "4:cpu,memory:/other\n");
    std::filesystem::copy(root_ + "/sys/fs/cgroup/memory/job", root_ + "/sys/fs/cgroup/memory/other");
    Member two(options());
    EXPECT_NE(one.adaptation->account().ledger, two.adaptation->account().ledger);
    EXPECT_TRUE(one.lease(100_MiB));
    EXPECT_TRUE(two.lease(100_MiB));
}

TEST_F(AdaptationTest, looks_once_a_millisecond_at_most) {
    group_one(192_MiB, 60_MiB);
    Member one(options());
    std::uint64_t const before = one.adaptation->looks();
    auto const began = std::chrono::steady_clock::now();
    for (int i = 0; i < 100'000; ++i)
        one.adaptation->look_if_due(one.budget);
    auto const passed = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
    EXPECT_LE(one.adaptation->looks() - before, static_cast<std::uint64_t>(passed.count()) + 1);
}

TEST_F(AdaptationTest, looks_at_all_places_when_the_kernel_tells) {
    TestGroup const group(hierarchy_of_version_two());
    if (group.folder().empty()) GTEST_SKIP() << "no control group of version 2 can be made here (needs root)";
    write("/proc/self/cgroup", "0::/job\n");
    write("/proc/self/mountinfo", "35 31 0:32 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n");
    write("/sys/fs/cgroup/job/memory.max", std::to_string((4_GiB).count) + "\n");
    write("/sys/fs/cgroup/job/memory.current", std::to_string((1_GiB).count) + "\n");
    // The kernel reports changes of this file in the same way, without a memory controller.
    std::filesystem::create_symlink(group.folder() + "/cgroup.events", root_ + "/sys/fs/cgroup/job/memory.events");
    budget::UsageEvents kernel({budget::MemoryPlace::Kind::cgroup_v2, {}, root_ + "/sys/fs/cgroup/job", "memory.max"},
                               std::make_shared<kernel::HelperThread>());
    budget::Adaptation::Options options = this->options();
    options.memory = 300_MiB;
    Member member(options);
    member.adaptation->look_if_due(member.budget);
    EXPECT_EQ(member.adaptation->tellings(), 0U);
    expect_about(member.budget.limit(), 200_MiB);
    write("/sys/fs/cgroup/job/memory.current", std::to_string((3_GiB + 900_MiB).count) + "\n");
    member.look();
    expect_about(member.budget.limit(), 200_MiB);  // this place had much more room until then, so it was not looked at
    Neighbour const neighbour;
    group.add(neighbour.process());
    neighbour.take(1);
    wait_until([&] { return kernel.told(); });
    std::uint64_t const before = member.adaptation->looks();
    wait_until([&] { return member.adaptation->look_if_due(member.budget); });
    EXPECT_EQ(member.adaptation->tellings(), 1U);
    EXPECT_EQ(member.adaptation->looks() - before, 1U);
    expect_about(member.budget.limit(), 60_MiB);
}

TEST_F(AdaptationTest, serves_threads_that_lease_while_others_look) {
    group_one(192_MiB, 60_MiB);
    Member one(options());
    Member two(options());
    std::atomic<std::uint64_t> granted{0};
    std::vector<std::thread> threads;
    for (Member* const member : {&one, &two})
        for (int i = 0; i < 2; ++i)
            threads.emplace_back([&, member] {
                for (int round = 0; round < 3000; ++round) {
                    std::optional<Lease> const lease = member->lease(Bytes{1U << (10 + round % 16)});
                    if (lease) ++granted;
                    if (round % 16 == 0) member->look();
                    member->adaptation->look_if_due(member->budget);
                    static_cast<void>(member->adaptation->account());
                }
            });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_GT(granted, 6000U);
    EXPECT_EQ(one.budget.held() + two.budget.held(), 0_B);
}

}  // namespace
}  // namespace sluice::tests
