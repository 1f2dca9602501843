// SPDX-License-Identifier: BSD-3-Clause
#include "memory/leased.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <optional>

#include "memory/staging_pool.hpp"

namespace sluice::memory {

namespace {

TEST(Leased, bytes_are_held_and_resident_while_they_live) {
    Budget budget(1_MiB);
    for (std::uint64_t const bytes : {1ULL, 1000ULL, 65536ULL, 300000ULL}) {
        {
            LeasedBytes const block = leased_bytes(budget, bytes, Purpose::staging);
            std::memset(block.get(), 1, bytes);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.get()) % 16, 0U);
            EXPECT_GE(budget.held(Purpose::staging).count, bytes);
            EXPECT_LE(budget.held(Purpose::staging).count, bytes + 64);
            EXPECT_EQ(budget.resident(), budget.held());
        }
        EXPECT_EQ(budget.held(), Bytes{});
        EXPECT_EQ(budget.resident(), Bytes{});
    }
}

TEST(Leased, bytes_are_granted_beyond_the_limit_and_others_wait) {
    Budget budget(64_KiB);
    LeasedBytes const block = leased_bytes(budget, 1 << 20, Purpose::staging);
    EXPECT_FALSE(budget.try_lease(1_KiB, Purpose::other).has_value());
}

TEST(Leased, what_cannot_be_allocated_leaves_nothing_held) {
    Budget budget(1_MiB);
    EXPECT_THROW(leased_bytes(budget, std::numeric_limits<std::uint64_t>::max() - 8, Purpose::staging), std::bad_alloc);
    EXPECT_THROW(leased_bytes(budget, std::uint64_t{1} << 62, Purpose::staging), std::bad_alloc);
    EXPECT_EQ(budget.held(), Bytes{});
    EXPECT_EQ(budget.resident(), Bytes{});
}

TEST(Leased, memory_may_outlive_the_budget_object) {
    std::optional<Budget> budget(std::in_place, 1_MiB);
    LeasedBytes block = leased_bytes(*budget, 1000, Purpose::staging);
    budget.reset();
    std::memset(block.get(), 1, 1000);
    block.reset();
}

TEST(Leased, a_container_holds_what_it_has_allocated) {
    Budget budget(1_MiB);
    {
        LeasedVector<std::uint64_t> numbers(1000, 7, LeasedAllocator<std::uint64_t>(budget));
        EXPECT_GE(budget.held(Purpose::bookkeeping).count, 8000U);
        LeasedVector<std::uint64_t> const moved = std::move(numbers);
        EXPECT_EQ(moved[999], 7U);
        EXPECT_LT(budget.held(Purpose::bookkeeping).count, 16000U);
    }
    EXPECT_EQ(budget.held(), Bytes{});
}

TEST(StagingPool, counts_as_resident_in_use_and_kept) {
    Budget budget(1_MiB);
    {
        StagingPool pool(&budget);
        {
            Staging const first = pool.take(100_KiB, 10_KiB);
            EXPECT_EQ(budget.resident(), 100_KiB);
            Staging const second = pool.take(50_KiB, 10_KiB);
            EXPECT_EQ(budget.resident(), 150_KiB);
        }
        EXPECT_EQ(budget.resident(), 100_KiB) << "the larger one is kept";
        EXPECT_EQ(budget.held(), 100_KiB);
    }
    EXPECT_EQ(budget.resident(), Bytes{});
    EXPECT_EQ(budget.held(), Bytes{});
}

TEST(StagingPool, gives_back_what_is_kept_when_another_request_does_not_fit) {
    Budget budget(1_MiB);
    StagingPool pool(&budget, StagingPool::Keeps::until_asked);
    {
        Staging const staging = pool.take(600_KiB, 10_KiB);
        EXPECT_FALSE(budget.try_lease(500_KiB, Purpose::other)) << "it is in use";
    }
    EXPECT_EQ(pool.kept(), 600_KiB);
    EXPECT_TRUE(budget.try_lease(400_KiB, Purpose::other));
    EXPECT_EQ(pool.kept(), 600_KiB) << "that did fit";
    auto const lease = budget.try_lease(500_KiB, Purpose::other);
    EXPECT_TRUE(lease);
    EXPECT_EQ(pool.kept(), 0_B);
    EXPECT_EQ(budget.held(), 500_KiB);
    EXPECT_EQ(budget.resident(), 0_B);
}

TEST(StagingPool, keeps_always_if_its_callers_count_on_it) {
    Budget budget(1_MiB);
    StagingPool pool(&budget);
    { Staging const staging = pool.take(600_KiB, 10_KiB); }
    EXPECT_FALSE(budget.try_lease(500_KiB, Purpose::other));
    EXPECT_EQ(pool.kept(), 600_KiB);
}

TEST(StagingPool, takes_all_or_nothing_if_asked_so) {
    Budget budget(1_MiB);
    StagingPool pool(&budget, StagingPool::Keeps::until_asked);
    EXPECT_FALSE(pool.try_take(2_MiB));
    EXPECT_EQ(budget.held(), 0_B);
    { EXPECT_TRUE(pool.try_take(700_KiB)); }
    auto const larger = pool.try_take(900_KiB);  // both together would not fit
    ASSERT_TRUE(larger);
    EXPECT_EQ(larger->bytes().size(), 900 * 1024U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(larger->bytes().data()) % 64, 0U);
    EXPECT_EQ(pool.kept(), 0_B);
    pool.fail_after(0);
    EXPECT_FALSE(pool.try_take(10_KiB));
    EXPECT_EQ(budget.held(), 900_KiB);
}

}  // namespace

}  // namespace sluice::memory
