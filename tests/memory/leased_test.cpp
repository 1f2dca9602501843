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

}  // namespace

}  // namespace sluice::memory
