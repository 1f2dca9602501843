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
    EXPECT_EQ(stretch.part_of_mpi(1000, 0.75), 750U);
    visit(stretch, 7, 0, k_page);
    EXPECT_EQ(stretch.part_of_mpi(1000, 0.75), 750U);
    visit(stretch, 1, 0, k_page);
    EXPECT_EQ(stretch.part_of_mpi(1000, 0.75), 0U);
}

TEST(Stretch, is_the_programs_where_gaps_grow_and_calls_do_not) {
    Stretch stretch;
    visit(stretch, 100, 0, k_page);
    EXPECT_EQ(stretch.part_of_mpi(k_page, 0.99), 0U);
}

TEST(Stretch, is_the_mpis_where_calls_grow_and_gaps_do_not) {
    Stretch stretch;
    visit(stretch, 100, k_page, 0);
    EXPECT_EQ(stretch.part_of_mpi(k_page, 0.01), k_page);
}

TEST(Stretch, is_shared_by_what_was_measured) {
    Stretch stretch;
    visit(stretch, 100, 3 * k_page, k_page);
    EXPECT_EQ(stretch.part_of_mpi(4 * k_page, 0), 3 * k_page);
}

TEST(Stretch, has_more_than_is_explained_by_time) {
    Stretch stretch;
    visit(stretch, 100, 0, k_page);
    for (int i = 0; i < 9; ++i)
        stretch.unread_call();
    // Ten gaps explain four times ten pages; the MPI has its share of the time of the others.
    EXPECT_EQ(stretch.part_of_mpi(140 * k_page, 0.5), 50 * k_page);
}

TEST(Stretch, learns_nothing_from_a_first_call_and_from_a_gap_with_other_calls_in_it) {
    Stretch stretch;
    for (int i = 0; i < 100; ++i) {
        stretch.read_call(k_page, false);
        stretch.begins(k_page);
        stretch.read_call(k_page, true);
        stretch.unread_call();
        stretch.begins(k_page);
        stretch.restart();
    }
    EXPECT_EQ(stretch.part_of_mpi(1000, 0.25), 250U);
}

TEST(Stretch, forgets_what_the_program_did_long_ago) {
    Stretch stretch;
    visit(stretch, 1000, 0, k_page);
    visit(stretch, 3000, k_page, 0);
    EXPECT_GT(stretch.part_of_mpi(k_page, 0), k_page * 99 / 100);
}

}  // namespace
}  // namespace sluice::plugin
