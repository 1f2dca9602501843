// SPDX-License-Identifier: BSD-3-Clause
/// Tokens: which are granted, which wait, and which are returned.
#include "budget/token_pool.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace sluice::tests {
namespace {

TEST(TokenPool, grants_up_to_its_limit_and_the_budgets) {
    Budget budget(1_MiB);
    budget::TokenPool pool(budget, Purpose::fetched, 600_KiB, budget::TokenPool::First::like_any);
    std::optional<budget::Tokens> const first = pool.try_take(6, 400_KiB);
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(budget.held(Purpose::fetched), 400_KiB);
    EXPECT_FALSE(pool.try_take(1, 300_KiB).has_value()) << "beyond the pool's limit";
    auto const other = budget.try_lease(600_KiB, Purpose::other);
    EXPECT_FALSE(pool.try_take(1, 100_KiB).has_value()) << "beyond the budget";
    EXPECT_EQ(pool.held(), 400_KiB);
    EXPECT_EQ(pool.held_messages(), 6U);
}

TEST(TokenPool, grants_the_first_whatever_its_size_where_it_says_so) {
    Budget budget(1_MiB);
    budget::TokenPool always(budget, Purpose::fetched, 1_B, budget::TokenPool::First::always);
    budget::TokenPool like_any(budget, Purpose::fetched, 1_B, budget::TokenPool::First::like_any);
    EXPECT_FALSE(like_any.try_take(1, 5_MiB).has_value());
    std::optional<budget::Tokens> first = always.try_take(1, 5_MiB);
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(budget.held(), 5_MiB);
    EXPECT_FALSE(always.try_take(1, 1_B).has_value());
    first.reset();
    EXPECT_EQ(budget.held(), 0_B);
    EXPECT_TRUE(always.try_take(1, 5_MiB).has_value());
    EXPECT_EQ(always.peak(), 5_MiB);
}

TEST(TokenPool, counts_messages_where_tokens_are_messages) {
    Budget budget(1_KiB);
    budget::TokenPool pool(budget, Purpose::fetched, 0_B, budget::TokenPool::First::always, 8);
    std::optional<budget::Tokens> const six = pool.try_take(6, 6_MiB);
    ASSERT_TRUE(six.has_value());
    EXPECT_FALSE(pool.try_take(3, 1_B).has_value());
    EXPECT_TRUE(pool.try_take(2, 50_MiB).has_value());
}

TEST(TokenPool, lets_a_set_hand_its_tokens_on_message_by_message) {
    Budget budget(1_MiB);
    std::optional<budget::Tokens> last;
    {
        budget::TokenPool pool(budget, Purpose::fetched, 1_MiB, budget::TokenPool::First::always);
        std::optional<budget::Tokens> set = pool.try_take(3, 300_KiB);
        ASSERT_TRUE(set.has_value());
        budget::Tokens first = set->split(100_KiB);
        last = set->split(150_KiB);
        EXPECT_EQ(pool.held_messages(), 3U);
        first.release();
        EXPECT_EQ(pool.held(), 200_KiB);
        EXPECT_EQ(pool.held_messages(), 2U);
        set.reset();
        EXPECT_EQ(pool.held(), 150_KiB);
        EXPECT_EQ(budget.held(), 150_KiB);
    }
    EXPECT_EQ(last->bytes(), 150_KiB);  // outlives the pool
    last.reset();
    EXPECT_EQ(budget.held(), 0_B);
}

TEST(TokenPool, has_room_for_some_sets_of_the_largest_size_within_a_part_of_the_budget) {
    Budget budget(8_MiB);
    budget::TokenPool pool(budget, Purpose::fetched, budget::TokenPool::Limit::room_for(4, 64_KiB).within_part(2),
                           budget::TokenPool::First::like_any);
    EXPECT_EQ(pool.limit(), 64_KiB);
    std::optional<budget::Tokens> const small = pool.try_take(1, 1_KiB);
    EXPECT_EQ(pool.limit(), 64_KiB);
    std::optional<budget::Tokens> const large = pool.try_take(1, 100_KiB);
    EXPECT_TRUE(large.has_value());
    EXPECT_EQ(pool.limit(), 400_KiB);
    EXPECT_FALSE(pool.try_take(1, 5_MiB).has_value()) << "beyond half of the budget";
    EXPECT_EQ(pool.limit(), 4_MiB);
    budget.set_limit(1_MiB);
    EXPECT_EQ(pool.limit(), 512_KiB);
}

TEST(TokenPool, becomes_wider_where_what_it_holds_does_not_come_back) {
    Budget budget(1_GiB);
    budget::TokenPool pool(budget, Purpose::fetched, budget::TokenPool::Limit::room_for(4, 64_KiB).within_part(2),
                           budget::TokenPool::First::always);
    pool.widen();
    EXPECT_EQ(pool.limit(), 128_KiB);
    std::optional<budget::Tokens> const large = pool.try_take(1, 100_KiB);
    EXPECT_EQ(pool.limit(), 800_KiB);
    for (int i = 0; i < 200; ++i)
        pool.widen();
    EXPECT_EQ(pool.limit(), 512_MiB);

    budget::TokenPool fixed(budget, Purpose::fetched, 64_KiB, budget::TokenPool::First::always);
    fixed.widen();
    EXPECT_EQ(fixed.limit(), 64_KiB) << "what the user has said";
}

TEST(Budget, splits_leases_and_leases_beyond_its_limit) {
    Budget budget(100_KiB);
    Lease whole = budget.lease_beyond(150_KiB, Purpose::served);
    EXPECT_EQ(budget.held(Purpose::served), 150_KiB);
    EXPECT_FALSE(budget.try_lease(1_B, Purpose::other).has_value());
    {
        Lease const part = whole.split(100_KiB);
        EXPECT_EQ(part.amount(), 100_KiB);
        EXPECT_EQ(whole.amount(), 50_KiB);
        EXPECT_EQ(budget.held(), 150_KiB);
    }
    EXPECT_EQ(budget.held(), 50_KiB);
    EXPECT_TRUE(budget.try_lease(50_KiB, Purpose::other).has_value());
}

TEST(Budget, serves_those_who_wait_when_its_limit_grows) {
    Budget budget(100_KiB);
    Lease const most = *budget.try_lease(90_KiB, Purpose::other);
    std::optional<Lease> got;
    budget.when_free(80_KiB, Purpose::other, [&](Lease lease) { got = std::move(lease); });
    EXPECT_FALSE(got.has_value());
    budget.set_limit(150_KiB);
    EXPECT_FALSE(got.has_value());
    budget.set_limit(200_KiB);
    EXPECT_TRUE(got.has_value());
    EXPECT_EQ(budget.limit(), 200_KiB);
}

}  // namespace
}  // namespace sluice::tests
