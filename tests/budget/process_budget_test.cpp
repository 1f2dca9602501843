// SPDX-License-Identifier: BSD-3-Clause
#include "budget/process_budget.hpp"

#include <gtest/gtest.h>

namespace sluice::budget {

namespace {

TEST(ProcessBudget, is_at_most_what_the_setting_memory_leaves) {
    Settings settings;
    settings.memory = 16_MiB;
    ProcessBudget process(settings);
    EXPECT_LE(process.memory_limit().limit, 16_MiB);
    EXPECT_LE(process.budget().limit(), 16_MiB);
}

TEST(ProcessBudget, room_is_less_by_what_is_held) {
    ProcessBudget process(Settings{});
    if (process.room() < 8_MiB) GTEST_SKIP() << "this machine has less than 8 MiB free";
    auto lease = process.budget().lease_beyond(4_MiB, Purpose::other);
    EXPECT_GE(process.budget().held(), 4_MiB);
    EXPECT_LE(process.room(), process.budget().limit() - 4_MiB);
}

TEST(ProcessBudget, looks_are_counted) {
    ProcessBudget process(Settings{});
    std::uint64_t const before = process.looks();
    process.look();
    EXPECT_GT(process.looks(), before);
}

TEST(ProcessBudget, leases_are_granted_after_the_process_has_left_the_ledger) {
    ProcessBudget process(Settings{});
    process.leave_ledger();
    EXPECT_FALSE(process.adaptation()->has_ledger());
    auto const small = process.budget().try_lease(Budget::guaranteed_minimum, Purpose::other);
    EXPECT_TRUE(small.has_value());
    auto const beyond = process.budget().lease_beyond(1_MiB, Purpose::other);
    process.look();
    EXPECT_GE(process.budget().held(), 1_MiB);
}

}  // namespace

}  // namespace sluice::budget
