// SPDX-License-Identifier: BSD-3-Clause
/// A ledger keeps no descriptor: its lock lives as long as its mapping.
#include <gtest/gtest.h>

#include <set>

#include "budget/ledger_bed.hpp"
#include "support/limits/descriptors.hpp"

namespace sluice::tests {
namespace {

TEST_F(NodeLedgerTest, holds_its_slot_without_a_descriptor_whatever_the_program_closes) {
    Pipe joined;
    Pipe done;
    std::set<int> const before = open_descriptors();
    Child other([&] {
        auto const mine = join();
        mine->claim(3_MiB);
        bool const keeps_none = open_descriptors() == before;
        for (int const number : open_descriptors())
            if (!before.contains(number)) close(number);
        joined.say();
        done.hear();
        return keeps_none ? 0 : 1;
    });
    joined.hear();
    auto const one = join();
    EXPECT_EQ(one->sums().claimed, 3_MiB);
    EXPECT_EQ(one->reclaim_dead(), 0U) << "the other lives";
    EXPECT_EQ(one->sums().processes, 2U);
    done.say();
    EXPECT_EQ(other.wait_for(), 0) << "no descriptor was kept";
    EXPECT_EQ(one->sums().processes, 1U) << "it has left";
    EXPECT_TRUE(exists());
}

TEST_F(NodeLedgerTest, is_removed_by_the_last_although_a_child_of_one_that_left_has_its_mapping) {
    Pipe ends;
    auto one = join();
    Child child([&] {
        ends.hear();
        return 0;
    });
    auto two = join();
    one.reset();
    EXPECT_TRUE(exists());
    EXPECT_EQ(two->sums().processes, 1U);
    two.reset();
    EXPECT_FALSE(exists());
    ends.say();
    EXPECT_EQ(child.wait_for(), 0);
}

TEST_F(NodeLedgerTest, is_left_without_a_descriptor_too) {
    auto one = join();
    auto const two = join();
    one->claim(3_MiB);
    {
        DescriptorLimit const none_free(3);
        EXPECT_EQ(two->reclaim_dead(), 0U);
        one.reset();
    }
    EXPECT_EQ(two->sums().processes, 1U);
    EXPECT_EQ(two->sums().claimed, 0_B);
}

}  // namespace
}  // namespace sluice::tests
