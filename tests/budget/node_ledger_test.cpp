// SPDX-License-Identifier: BSD-3-Clause
/// One ledger for several processes: their claims, and processes that wait or die.
#include "budget/node_ledger.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "budget/ledger_bed.hpp"
#include "support/limits/process_limit.hpp"

namespace sluice::tests {
namespace {

TEST_F(NodeLedgerTest, lets_all_claim_up_to_the_bound_and_no_more) {
    auto const one = join();
    auto const two = join();
    EXPECT_TRUE(one->try_claim(6_MiB, {10_MiB}));
    EXPECT_FALSE(two->try_claim(5_MiB, {10_MiB}));
    EXPECT_EQ(two->claimed(), 0_B);
    EXPECT_TRUE(two->try_claim(4_MiB, {10_MiB}));
    EXPECT_EQ(one->sums().claimed, 10_MiB);
    EXPECT_EQ(one->sums().processes, 2U);
    std::uint64_t const before = two->changes();
    one->claim(5_MiB);
    EXPECT_NE(two->changes(), before) << "a process that waits is told";
    EXPECT_TRUE(two->try_claim(5_MiB, {10_MiB}));
}

TEST_F(NodeLedgerTest, gives_what_a_process_had_to_the_others_when_it_leaves) {
    auto const one = join();
    {
        auto const two = join();
        EXPECT_TRUE(two->try_claim(10_MiB, {10_MiB}));
        two->tell(3_MiB, 7_MiB, 0_B);
        EXPECT_EQ(one->sums().resident, 3_MiB);
        EXPECT_EQ(one->sums().private_memory, 7_MiB);
        EXPECT_FALSE(one->try_claim(1_B, {10_MiB}));
    }
    EXPECT_EQ(one->sums().claimed, 0_B);
    EXPECT_EQ(one->sums().resident, 0_B);
    EXPECT_TRUE(one->try_claim(10_MiB, {10_MiB}));
}

TEST_F(NodeLedgerTest, sums_private_memory_of_those_with_the_same_node_memory) {
    auto const one = join();
    auto const two = join();
    auto const three = join();
    one->tell(1_MiB, 10_MiB, 1_GiB);
    two->tell(2_MiB, 20_MiB, 1_GiB);
    three->tell(4_MiB, 40_MiB, 0_B);
    EXPECT_EQ(one->sums().private_memory, 30_MiB);
    EXPECT_EQ(one->sums().private_resident, 3_MiB);
    EXPECT_EQ(one->sums().resident, 7_MiB);
    EXPECT_EQ(three->sums().private_memory, 40_MiB);
    // A claim is compared with the bound of these processes and with the bound of all.
    EXPECT_TRUE(three->try_claim(50_MiB, {100_MiB, 60_MiB}));
    EXPECT_TRUE(one->try_claim(10_MiB, {100_MiB, 20_MiB}));
    EXPECT_FALSE(two->try_claim(11_MiB, {100_MiB, 20_MiB}));
    EXPECT_TRUE(two->try_claim(10_MiB, {100_MiB, 20_MiB}));
    EXPECT_FALSE(one->try_claim(20_MiB, {70_MiB, 60_MiB}));
}

TEST_F(NodeLedgerTest, is_for_its_user_alone_and_removed_by_the_last_who_leaves) {
    {
        auto const one = join();
        struct stat status {};
        ASSERT_EQ(stat(("/dev/shm" + name()).c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777, 0600U);
        auto two = join();
        two.reset();
        EXPECT_TRUE(exists());
    }
    EXPECT_FALSE(exists());
}

TEST_F(NodeLedgerTest, has_another_name_where_the_first_is_not_this_users_alone) {
    std::string const path = "/dev/shm" + name();
    std::string const target = "/dev/shm/private-" + std::to_string(getpid());
    std::ofstream(target) << "private";
    chmod(target.c_str(), 0600);
    auto const take = [&](int way) {
        if (way == 0) return symlink(target.c_str(), path.c_str());
        if (way == 1) return link(target.c_str(), path.c_str());
        if (way == 2) return mkfifo(path.c_str(), 0666);
        return chmod((std::ofstream(path), path.c_str()), 0644);
    };
    for (int way = 0; way < 4; ++way) {
        ASSERT_EQ(take(way), 0);
        auto const one = join();
        EXPECT_EQ(one->name(), name() + "-2");
        unlink(path.c_str());
        auto const two = join();
        EXPECT_EQ(two->name(), name() + "-2") << "the name that is in use, although the first is free again";
        EXPECT_EQ(two->sums().processes, 2U);
    }
    EXPECT_NE(access((path + "-2").c_str(), F_OK), 0) << "the last process that leaves removes it";
    std::string words;
    std::getline(std::ifstream(target) >> std::ws, words);
    EXPECT_EQ(words, "private");
    unlink(target.c_str());
}

TEST_F(NodeLedgerTest, goes_without_where_all_names_are_taken) {
    std::string const path = "/dev/shm" + name();
    for (std::string const more : {"", "-2", "-3", "-4"})
        ASSERT_EQ(symlink("nowhere", (path + more).c_str()), 0);
    std::string why;
    EXPECT_EQ(budget::NodeLedger::join(identity_, why), nullptr);
    EXPECT_EQ(why, "the node's ledger " + path + ": it is a symbolic link");
    for (std::string const more : {"", "-2", "-3", "-4"})
        unlink((path + more).c_str());
}

TEST_F(NodeLedgerTest, uses_a_file_again_that_killed_processes_have_left) {
    Pipe joined;
    Child child([&] {
        auto const ledger = join();
        if (!ledger->try_claim(9_MiB, {10_MiB})) return 1;
        joined.say();
        pause();
        return 0;
    });
    joined.hear();
    child.kill_now();
    ASSERT_TRUE(exists());
    {
        auto const ledger = join();
        EXPECT_EQ(ledger->sums().processes, 1U);
        EXPECT_EQ(ledger->sums().claimed, 0_B);
    }
    EXPECT_FALSE(exists());
}

TEST_F(NodeLedgerTest, removes_what_killed_processes_of_other_groups_have_left) {
    Pipe joined;
    Child child([&] {
        auto const ledger = join();
        joined.say();
        pause();
        return 0;
    });
    joined.hear();
    std::string why;
    EXPECT_NE(budget::NodeLedger::join(identity_ + "-other", why), nullptr) << why;
    EXPECT_TRUE(exists()) << "it is in use";
    child.kill_now();
    EXPECT_NE(budget::NodeLedger::join(identity_ + "-other", why), nullptr) << why;
    EXPECT_FALSE(exists());
}

TEST_F(NodeLedgerTest, makes_a_ledger_anew_whose_maker_died_in_the_middle) {
    int const file = shm_open(name().c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_GE(file, 0);
    std::vector<char> const rubbish(5000, 'x');
    ASSERT_EQ(write(file, rubbish.data(), rubbish.size()), 5000);
    close(file);
    auto const ledger = join();
    EXPECT_EQ(ledger->sums().claimed, 0_B);
    EXPECT_EQ(ledger->sums().processes, 1U);
}

TEST_F(NodeLedgerTest, gives_what_a_killed_process_held_to_the_others) {
    auto const ledger = join();
    Pipe joined;
    Child child([&] {
        auto const own = join();
        if (!own->try_claim(10_MiB, {10_MiB})) return 1;
        own->tell(5_MiB, 6_MiB, 0_B);
        joined.say();
        pause();
        return 0;
    });
    joined.hear();
    EXPECT_EQ(ledger->reclaim_dead(), 0U);
    EXPECT_FALSE(ledger->try_claim(1_B, {10_MiB}));
    std::uint64_t const before = ledger->changes();
    child.kill_now();
    EXPECT_EQ(ledger->reclaim_dead(), 1U);
    EXPECT_EQ(ledger->reclaim_dead(), 0U);
    EXPECT_NE(ledger->changes(), before);
    EXPECT_EQ(ledger->sums().resident, 0_B);
    EXPECT_TRUE(ledger->try_claim(10_MiB, {10_MiB}));
}

TEST_F(NodeLedgerTest, gives_what_a_killed_process_held_to_the_others_while_a_child_of_it_lives) {
    auto const ledger = join();
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // the grandchild becomes a child of this process
    int living[2]{};                                 // the grandchild lives until this process closes it, or ends
    ASSERT_EQ(pipe2(living, O_CLOEXEC), 0);
    Pipe joined;
    Child parent([&] {
        auto const own = join();
        if (!own->try_claim(10_MiB, {10_MiB})) return 1;
        close(living[1]);
        Child const child([&] {
            joined.say();
            char c = 0;
            return static_cast<int>(read(living[0], &c, 1));
        });
        pause();
        return 0;
    });
    joined.hear();
    EXPECT_EQ(ledger->reclaim_dead(), 0U);
    EXPECT_FALSE(ledger->try_claim(1_B, {10_MiB}));
    parent.kill_now();
    EXPECT_EQ(ledger->reclaim_dead(), 1U);
    EXPECT_EQ(ledger->reclaim_dead(), 0U);
    EXPECT_EQ(ledger->sums().processes, 1U);
    EXPECT_TRUE(ledger->try_claim(10_MiB, {10_MiB}));
    {
        auto const later = join();
        EXPECT_NE(later->slot(), ledger->slot());
        EXPECT_EQ(later->reclaim_dead(), 0U);
        EXPECT_EQ(ledger->sums().processes, 2U);
    }
    close(living[1]);
    int status = 1;
    EXPECT_GT(waitpid(-1, &status, 0), 0);
    EXPECT_EQ(status, 0);
    close(living[0]);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_F(NodeLedgerTest, keeps_what_its_process_holds_when_a_child_of_it_ends_or_runs_another_program) {
    auto ledger = join();
    auto const other = join();
    EXPECT_TRUE(ledger->try_claim(3_MiB, {10_MiB}));
    Child child([&] {
        ledger.reset();  // as exit() might do
        return 0;
    });
    EXPECT_EQ(child.wait_for(), 0);
    EXPECT_EQ(other->sums().claimed, 3_MiB);
    EXPECT_EQ(std::system("true"), 0);
    EXPECT_EQ(other->reclaim_dead(), 0U);
    EXPECT_EQ(other->sums().claimed, 3_MiB);
}

TEST_F(NodeLedgerTest, refuses_more_than_an_even_share_while_another_waits_who_has_less) {
    auto const greedy = join();
    auto const poor = join();
    EXPECT_TRUE(greedy->try_claim(10_MiB, {10_MiB})) << "no other process needs it";
    EXPECT_FALSE(poor->try_claim(2_MiB, {10_MiB}));
    EXPECT_FALSE(greedy->others_wait({10_MiB}));
    poor->want(2_MiB);
    EXPECT_TRUE(greedy->others_wait({10_MiB}));
    EXPECT_FALSE(poor->others_wait({10_MiB})) << "it is the one";
    greedy->claim(7_MiB);  // a lease was given back
    EXPECT_FALSE(greedy->try_claim(8_MiB, {10_MiB}));
    EXPECT_TRUE(poor->try_claim(2_MiB, {10_MiB}));
    poor->want(0_B);
    EXPECT_TRUE(greedy->try_claim(8_MiB, {10_MiB}));
    // A waiting process that has more than an even share does not hold back others.
    EXPECT_TRUE(poor->try_claim(2_MiB, {10_MiB}));
    greedy->claim(1_MiB);
    EXPECT_TRUE(poor->try_claim(9_MiB, {10_MiB}));
    poor->want(10_MiB);
    EXPECT_TRUE(greedy->try_claim(1_MiB, {10_MiB}));
}

TEST_F(NodeLedgerTest, has_a_slot_for_1024_processes_and_tells_the_next_one_why_not) {
    rlimit files{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
    rlimit const before = files;
    files.rlim_cur = std::min<rlim_t>(files.rlim_max, 2048);
    if (files.rlim_cur < 1100) GTEST_SKIP() << "no more than " << files.rlim_cur << " files may be open";
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
    {
        std::vector<std::shared_ptr<budget::NodeLedger>> all;
        for (std::size_t i = 0; i < budget::NodeLedger::k_slots; ++i)
            all.push_back(join());
        std::string why;
        EXPECT_EQ(budget::NodeLedger::join(identity_, why), nullptr);
        EXPECT_NE(why.find("1024 slots"), std::string::npos) << why;
        EXPECT_EQ(all.back()->sums().processes, 1024U);
        all[500].reset();
        EXPECT_NE(budget::NodeLedger::join(identity_, why), nullptr);
    }
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_FALSE(exists());
}

/// In shared memory: the bytes that all fighters have been granted and have not begun to give back, which are never
/// more than their claims.
using Granted = std::atomic<std::uint64_t>;
constexpr Bytes k_bound = 1_MiB;

/// Claims and gives back at random; returns 0 if the granted bytes were never above the bound.
int fight(budget::NodeLedger& ledger, unsigned seed, int rounds, Granted* granted) {
    std::minstd_rand random(seed);
    std::uint64_t mine = 0;
    int got = 0;
    for (int i = 0; i < rounds; ++i) {
        Bytes const claim{random() % (600 << 10)};
        bool const is_less = claim.count < mine;
        if (granted != nullptr && is_less) *granted -= mine - claim.count;
        if (ledger.try_claim(claim, {k_bound})) {
            ++got;
            if (ledger.claimed() != claim) return 2;
            if (granted != nullptr && !is_less && (*granted += claim.count - mine) > k_bound.count) return 1;
            mine = claim.count;
        } else {
            if (ledger.claimed().count != mine) return 4;
            if (granted != nullptr && is_less) *granted += mine - claim.count;
        }
        if (random() % 4 == 0) {
            if (granted != nullptr) *granted -= mine;
            mine = 0;
            ledger.claim(0_B);
        }
        if (random() % 64 == 0) ledger.reclaim_dead();
    }
    if (granted != nullptr) *granted -= mine;
    return got > 0 ? 0 : 3;
}

TEST_F(NodeLedgerTest, never_grants_more_than_the_bound_to_processes_that_fight) {
    auto const watch = join();
    void* const shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(shared, MAP_FAILED);
    auto* const granted = new (shared) Granted(0);
    constexpr int k_fighters = 4;
    std::vector<std::unique_ptr<Child>> fighters;
    for (unsigned i = 0; i < k_fighters; ++i)
        fighters.push_back(std::make_unique<Child>([&, i] { return fight(*join(), i + 1, 50'000, granted); }));
    // Some are killed in the middle, and others take their place.
    for (unsigned i = 0; i < 6; ++i) {
        Pipe joined;
        Child victim([&] {
            auto const own = join();
            joined.say();
            return fight(*own, 100 + i, 1 << 30, nullptr);
        });
        joined.hear();
        usleep(2000);
        victim.kill_now();
        watch->reclaim_dead();
    }
    for (auto const& fighter : fighters)
        EXPECT_EQ(fighter->wait_for(), 0);
    watch->reclaim_dead();
    EXPECT_EQ(watch->sums().processes, 1U);
    EXPECT_EQ(watch->sums().claimed, 0_B);
    EXPECT_EQ(granted->load(), 0U);
    munmap(shared, 4096);
}

TEST_F(NodeLedgerTest, is_none_where_a_file_may_not_be_as_large) {
    FileSizeLimit const limit(4096);  // SIGXFSZ would end this process
    std::string why;
    EXPECT_EQ(budget::NodeLedger::join(identity_, why), nullptr);
    EXPECT_EQ(why, "no shared memory for the node's ledger: File too large (RLIMIT_FSIZE)");
    EXPECT_FALSE(exists());
}

TEST_F(NodeLedgerTest, comes_and_goes_with_processes_that_join_at_the_same_time) {
    std::vector<std::unique_ptr<Child>> all;
    all.reserve(6);
    for (int i = 0; i < 6; ++i)
        all.push_back(std::make_unique<Child>([&] {
            for (int round = 0; round < 100; ++round) {
                std::string why;
                auto const ledger = budget::NodeLedger::join(identity_, why);
                if (!ledger) return 1;
                // The process shares the ledger with the others: its own claim counts, and the others cannot claim
                // those bytes.
                if (!ledger->try_claim(1_KiB, {6_KiB})) return 2;
                if (ledger->sums().claimed < 1_KiB) return 3;
            }
            return 0;
        }));
    for (auto const& child : all)
        EXPECT_EQ(child->wait_for(), 0);
    EXPECT_FALSE(exists());
}

}  // namespace
}  // namespace sluice::tests
