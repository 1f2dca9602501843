// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/growth/stretch.hpp"

#include <gtest/gtest.h>

namespace sluice::plugin {
namespace {

constexpr std::uint64_t k_page = 4096;

/// `times` read calls and the gaps behind them, in which memory grew by so much.
void visit(Stretch& stretch, int times, std::uint64_t inside, std::uint64_t outside) {
    for (int i = 0; i < times; ++i) {
        stretch.restart();
        stretch.read_call(inside, true);
        stretch.restart();
        stretch.begins(outside);
    }
    stretch.restart();
}

TEST(Stretch, is_shared_by_time_until_enough_is_measured) {
    Stretch stretch;
    EXPECT_EQ(stretch.part_of_mpi({1000, 100, 75, 75}), 750U);
    visit(stretch, 7, 0, k_page);
    EXPECT_EQ(stretch.part_of_mpi({1000, 100, 75, 75}), 750U);
    visit(stretch, 1, 0, k_page);
    EXPECT_EQ(stretch.part_of_mpi({1000, 100, 75, 75}), 0U);
}

TEST(Stretch, is_the_programs_where_gaps_grow_and_calls_do_not) {
    Stretch stretch;
    visit(stretch, 100, 0, k_page);
    EXPECT_EQ(stretch.part_of_mpi({k_page, 100, 99, 99}), 0U);
}

TEST(Stretch, is_the_mpis_where_calls_grow_and_gaps_do_not) {
    Stretch stretch;
    visit(stretch, 100, k_page, 0);
    stretch.unread_call(1, k_page);
    EXPECT_EQ(stretch.part_of_mpi({k_page, 100, 1, 0}), k_page);
}

TEST(Stretch, is_shared_by_what_was_measured) {
    Stretch stretch;
    visit(stretch, 100, 3 * k_page, k_page);
    stretch.unread_call(1, 12 * k_page);
    EXPECT_EQ(stretch.part_of_mpi({4 * k_page, 100, 1, 0}), 3 * k_page);
}

TEST(Stretch, has_more_than_is_explained_by_time) {
    Stretch stretch;
    visit(stretch, 100, 0, k_page);
    for (int i = 0; i < 9; ++i)
        stretch.unread_call(1, std::nullopt);
    // Ten gaps explain four times ten pages; the MPI has its share of the time of the others.
    EXPECT_EQ(stretch.part_of_mpi({140 * k_page, 100, 50, 50}), 50 * k_page);
}

TEST(Stretch, gives_the_mpi_what_calls_can_have_taken) {
    Stretch stretch;
    stretch.unread_call(70, 0);
    stretch.unread_call(20, std::nullopt);
    EXPECT_EQ(stretch.unknown(), 20U);
    // The program or the second call took it, in 10 or 20 ticks.
    EXPECT_EQ(stretch.part_of_mpi({1200, 100, 90, 20}), 800U);
    stretch.unread_call(4, 50);
    stretch.unread_call(4, 50);
    EXPECT_EQ(stretch.part_of_mpi({1100, 100, 98, 20}), 1078U) << "by time";
    stretch.restart();
    EXPECT_EQ(stretch.unknown(), 0U);
    EXPECT_EQ(stretch.part_of_mpi({1000, 100, 90, 0}), 0U);
}

TEST(Stretch, gives_calls_of_several_threads_their_share_of_all_the_time) {
    Stretch stretch;
    stretch.unread_call(190, 0);
    stretch.unread_call(20, std::nullopt);
    EXPECT_EQ(stretch.part_of_mpi({1000, 100, 210, 20}), 200U);
}

TEST(Stretch, gives_the_mpi_what_an_open_call_can_have_taken) {
    Stretch stretch;
    EXPECT_EQ(stretch.part_of_mpi({1000, 100, 90, 0, 300}), 300U);
    stretch.unread_call(40, 200);
    EXPECT_EQ(stretch.part_of_mpi({1000, 100, 90, 0, 300}), 500U);
    EXPECT_EQ(stretch.part_of_mpi({1000, 100, 90, 20}), 200U + 1000 * 2 / 3);
}

constexpr std::int64_t k_ticks = 100;
constexpr std::uint64_t k_interval = 1000;
constexpr Stretch::Growth k_array{100 * k_page, k_ticks, 80, 0};

/// A stretch of 100 calls that are known to take nothing and were most of the time, in which memory grew by 100 pages.
/// Then those calls that are all read.
std::uint64_t proven(Stretch& stretch, std::uint64_t inside, std::uint64_t outside) {
    stretch.restart();
    for (int i = 0; i < 100; ++i)
        stretch.unread_call(1, 0);
    EXPECT_EQ(stretch.part_of_mpi(k_array), 0U);
    stretch.wait_for_proof(k_array, k_interval, k_interval);
    std::uint64_t proven = 0;
    for (int i = 0; i < 1000 && stretch.reads_all(); ++i) {
        EXPECT_EQ(proven, 0U);
        stretch.restart();
        stretch.read_call(inside, true);
        stretch.restart();
        proven = stretch.begins(outside);
    }
    EXPECT_FALSE(stretch.reads_all());
    return proven;
}

TEST(Stretch, is_the_programs_if_the_next_calls_take_nothing) {
    Stretch stretch;
    EXPECT_EQ(proven(stretch, 0, 0), 0U);
    Stretch other;
    EXPECT_EQ(proven(other, 0, k_page), 0U);
}

TEST(Stretch, is_the_mpis_if_the_next_calls_take_as_much) {
    Stretch stretch;
    EXPECT_EQ(proven(stretch, k_page, 0), 80 * k_page);
    Stretch other;
    EXPECT_EQ(proven(other, k_page, 3 * k_page), 80 * k_page * 31 / (31 + 3 * 32));
}

TEST(Stretch, is_the_mpis_as_far_as_the_next_calls_explain_it) {
    Stretch stretch;
    EXPECT_EQ(proven(stretch, k_page / 16, 0), 25 * k_page / 2);
    Stretch other;
    EXPECT_EQ(proven(other, k_page / 32, 0), 0U) << "a page comes by chance";
}

TEST(Stretch, has_no_proof_for_what_is_known_to_be_the_programs) {
    Stretch stretch;
    for (int i = 0; i < 100; ++i)
        stretch.unread_call(1, 0);
    stretch.wait_for_proof(k_array, k_interval, k_interval);
    stretch.are_the_programs(70 * k_page);
    std::uint64_t proven = 0;
    while (stretch.reads_all()) {
        stretch.restart();
        stretch.read_call(k_page, true);
        stretch.restart();
        proven = stretch.begins(0);
    }
    EXPECT_EQ(proven, 10 * k_page);
    stretch.are_the_programs(k_page);
    EXPECT_EQ(stretch.begins(0), 0U);
}

TEST(Stretch, does_not_have_all_calls_read_for_ever_where_others_are_between_them) {
    Stretch stretch;
    stretch.unread_call(1, 0);
    stretch.wait_for_proof(k_array, k_interval, k_interval);
    for (int i = 0; i < 64; ++i) {
        stretch.restart();
        stretch.read_call(0, true);
        stretch.unread_call(1, 0);
        EXPECT_EQ(stretch.begins(k_page), 0U);
    }
    EXPECT_FALSE(stretch.reads_all());
}

TEST(Stretch, has_all_calls_read_for_large_growth_only_and_not_too_often) {
    Stretch stretch;
    stretch.unread_call(1, 0);
    Stretch::Growth const small{k_growth / 4, k_ticks, 100, 0};
    for (int i = 0; i < 3; ++i)
        stretch.wait_for_proof(small, k_interval, k_interval);
    EXPECT_FALSE(stretch.reads_all());
    stretch.wait_for_proof(small, k_interval, k_interval);
    EXPECT_TRUE(stretch.reads_all());
    stretch.restart();
    while (stretch.reads_all()) {
        stretch.read_call(0, true);
        EXPECT_EQ(stretch.begins(0), 0U);
    }
    stretch.unread_call(1, 0);
    stretch.wait_for_proof(k_array, 2 * k_interval - 1, k_interval);
    EXPECT_FALSE(stretch.reads_all());
    stretch.wait_for_proof(k_array, 2 * k_interval, k_interval);
    EXPECT_TRUE(stretch.reads_all());
}

TEST(Stretch, learns_nothing_from_a_first_call_and_from_a_gap_with_other_calls_in_it) {
    Stretch stretch;
    for (int i = 0; i < 100; ++i) {
        stretch.read_call(k_page, false);
        stretch.begins(k_page);
        stretch.read_call(k_page, true);
        stretch.unread_call(1, std::nullopt);
        stretch.begins(k_page);
        stretch.restart();
    }
    EXPECT_EQ(stretch.part_of_mpi({1000, 100, 25, 25}), 250U);
}

TEST(Stretch, forgets_what_the_program_did_long_ago) {
    Stretch stretch;
    visit(stretch, 1000, 0, k_page);
    visit(stretch, 3000, k_page, 0);
    EXPECT_GT(stretch.part_of_mpi({k_page, 100, 1, 100}), k_page * 99 / 100);
}

}  // namespace
}  // namespace sluice::plugin
