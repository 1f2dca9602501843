// SPDX-License-Identifier: BSD-3-Clause
/// The rule that picks an algorithm: a pure function, which never picks one that cannot serve.
#include "collectives/alltoall/rule.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>

#include "collectives/alltoall/trials.hpp"

namespace sluice::tests {
namespace {

using collectives::AlgorithmEntry;
using collectives::algorithms;
using collectives::choose;
using collectives::Facts;
using collectives::granted;
using collectives::Trials;

template <typename Action>
void for_all_facts(Action const& action) {
    for (int const ranks : {1, 2, 3, 4, 7, 8, 64, 1000})
        for (bool const even : {false, true})
            for (bool const narrow : {false, true})
                for (bool const one_node : {false, true})
                    for (bool const known : {false, true})
                        for (std::uint64_t bytes = 0; bytes < std::uint64_t{1} << 40; bytes = 3 * bytes + 1)
                            action(Facts{ranks, even, bytes, known, narrow, one_node});
}

TEST(AlltoallRule, picks_one_that_serves) {
    for_all_facts([](Facts const& facts) {
        AlgorithmEntry const& picked = collectives::algorithm_entry(choose(facts));
        EXPECT_TRUE(picked.serves(facts)) << picked.name << " for " << facts.bytes << " bytes, " << facts.ranks;
    });
}

TEST(AlltoallRule, leaves_what_it_knows_nothing_of_to_the_mpi) {
    for_all_facts([](Facts const& facts) {
        bool const can = collectives::algorithm_entry(AlltoallAlgorithm::plain).serves(facts);
        if (!facts.one_node && can) {
            EXPECT_EQ(choose(facts), AlltoallAlgorithm::plain);
        }
    });
}

TEST(AlltoallRule, grants_what_serves_and_the_window_for_all_else) {
    for_all_facts([](Facts const& facts) {
        for (AlgorithmEntry const& entry : algorithms())
            EXPECT_EQ(granted(entry.id, facts), entry.serves(facts) ? entry.id : AlltoallAlgorithm::window);
        EXPECT_EQ(granted(AlltoallAlgorithm::automatic, facts), choose(facts));
    });
}

TEST(AlltoallRule, knows_what_each_cannot_do) {
    Facts facts;
    facts.ranks = 8;
    facts.bytes = 64;
    EXPECT_EQ(granted(AlltoallAlgorithm::log_step, facts), AlltoallAlgorithm::log_step);
    facts.bytes = 1 << 20;  // more than its room on the stack
    EXPECT_EQ(granted(AlltoallAlgorithm::log_step, facts), AlltoallAlgorithm::window);
    facts.bytes = ~std::uint64_t{0} / 2;  // no overflow
    EXPECT_EQ(granted(AlltoallAlgorithm::log_step, facts), AlltoallAlgorithm::window);
    facts.is_narrow = false;
    EXPECT_EQ(granted(AlltoallAlgorithm::plain, facts), AlltoallAlgorithm::window);
    facts.one_node = false;
    EXPECT_EQ(granted(AlltoallAlgorithm::pull, facts), AlltoallAlgorithm::window);
}

TEST(AlltoallRule, takes_the_window_where_the_budget_has_no_room_for_messages_of_all_ranks) {
    Facts facts;
    facts.ranks = 8;
    facts.bytes = 4096;
    facts.room = 2 * 7 * 4096;
    EXPECT_EQ(choose(facts), AlltoallAlgorithm::plain);  // between nodes
    facts.room -= 1;
    EXPECT_EQ(choose(facts), AlltoallAlgorithm::window);
    EXPECT_EQ(granted(AlltoallAlgorithm::plain, facts), AlltoallAlgorithm::plain);  // as wished
    Trials trials(facts);
    for (int call = 0; call < 12; ++call) {
        EXPECT_NE(trials.next(), AlltoallAlgorithm::plain);
        if (trials.take(1)) break;
    }
    facts.one_node = true;
    EXPECT_NE(choose(facts), AlltoallAlgorithm::plain);
}

TEST(AlltoallTrials, keep_the_fastest_and_the_plain_call_if_none_is_clearly_faster) {
    Facts facts;
    facts.ranks = 8;
    facts.bytes = 64;
    facts.one_node = true;
    auto const decide = [&](AlltoallAlgorithm fast, double seconds) {
        Trials trials(facts);
        for (bool last = false; !last;)
            last = trials.take(trials.next() == fast ? seconds : 1e-3);
        return trials.decide([](std::span<std::uint64_t>) {});
    };
    EXPECT_EQ(decide(AlltoallAlgorithm::log_step, 0.9e-3), AlltoallAlgorithm::log_step);
    EXPECT_EQ(decide(AlltoallAlgorithm::pull, 0.5e-3), AlltoallAlgorithm::pull);
    EXPECT_EQ(decide(AlltoallAlgorithm::window, 0.99e-3), AlltoallAlgorithm::plain);
    // The slowest rank counts: here another one needs ten times as long for what is fast on this one.
    Trials trials(facts);
    for (bool last = false; !last;)
        last = trials.take(trials.next() == AlltoallAlgorithm::pull ? 1e-4 : 1e-3);
    EXPECT_EQ(trials.decide([](std::span<std::uint64_t> values) {
        for (std::uint64_t& value : values)
            if (value == 100'000) value = 10'000'000;
    }),
              AlltoallAlgorithm::plain);
}

TEST(AlltoallRule, costs_do_not_fall_with_bytes_within_a_line) {
    for (AlgorithmEntry const& entry : algorithms()) {
        Facts less{8, true, 100'000, true, true, true};
        Facts more = less;
        more.bytes *= 2;
        EXPECT_LE(entry.cost(less), entry.cost(more)) << entry.name;
        EXPECT_GT(entry.cost(less), 0) << entry.name;
    }
}

}  // namespace
}  // namespace sluice::tests
