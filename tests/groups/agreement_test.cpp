// SPDX-License-Identifier: BSD-3-Clause
#include "groups/agreement.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <limits>
#include <string>

#include "mpi/mpi.hpp"

namespace sluice::groups {
namespace {

constexpr std::uint64_t k_greatest = std::numeric_limits<std::uint64_t>::max();

int my_rank() {
    return mpi::rank_in(MPI_COMM_WORLD);
}
int ranks() {
    return mpi::size_of(MPI_COMM_WORLD);
}
bool is_last() {
    return my_rank() == ranks() - 1;
}

/// Returns the text of the Error that run() throws; empty if it throws none.
std::string complaint_of(Agreement& agreement) {
    try {
        agreement.run(MPI_COMM_WORLD);
    } catch (Error const& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        return error.what();
    }
    return "";
}

TEST(Agreement, returns_the_most_and_the_least_of_all_ranks) {
    auto const mine = static_cast<std::uint64_t>(my_rank());
    Agreement agreement;
    std::uint64_t const& most = agreement.most(mine + 5);
    std::uint64_t const& least = agreement.least(mine + 5);
    std::uint64_t const& least_of_ends = agreement.least(is_last() ? 0 : k_greatest);
    std::uint64_t const& most_of_ends = agreement.most(is_last() ? k_greatest : 0);
    agreement.run(MPI_COMM_WORLD);
    EXPECT_EQ(most, static_cast<std::uint64_t>(ranks()) + 4);
    EXPECT_EQ(least, 5U);
    EXPECT_EQ(least_of_ends, 0U);
    EXPECT_EQ(most_of_ends, k_greatest);
}

TEST(Agreement, values_that_are_alike_pass) {
    Agreement agreement;
    agreement.alike("zero", std::uint64_t{0});
    agreement.alike("greatest", k_greatest);
    agreement.alike("nothing", "");
    agreement.alike("text", "strategy");
    agreement.alike("bytes", 64_KiB);
    EXPECT_EQ(complaint_of(agreement), "");
}

TEST(Agreement, a_value_that_differs_is_an_error_on_all_ranks_with_two_ranks_and_their_values) {
    Agreement agreement;
    agreement.alike("block_bytes", 8);
    agreement.alike("staging", is_last() ? 41 : 42);
    agreement.alike("strategy", is_last() ? 0 : 1);
    EXPECT_EQ(complaint_of(agreement),
              ranks() == 1 ? "" : "staging differs: rank 0 has 42, rank " + std::to_string(ranks() - 1) + " 41");
}

TEST(Agreement, a_text_that_differs_is_an_error_on_all_ranks) {
    Agreement agreement;
    agreement.alike("setting a", "token");
    agreement.alike("setting b", is_last() ? "parking" : "token");
    EXPECT_EQ(
        complaint_of(agreement),
        ranks() == 1 ? "" : "setting b differs: rank 0 has token, rank " + std::to_string(ranks() - 1) + " parking");
}

TEST(Agreement, bytes_that_differ_are_told_with_their_unit) {
    Agreement agreement;
    agreement.alike("staging", is_last() ? 1_MiB : 64_KiB);
    EXPECT_EQ(complaint_of(agreement),
              ranks() == 1 ? "" : "staging differs: rank 0 has 64 KiB, rank " + std::to_string(ranks() - 1) + " 1 MiB");
}

TEST(Agreement, the_first_fault_of_the_lowest_rank_goes_before_what_differs) {
    int const lowest = ranks() / 2;
    Agreement agreement;
    agreement.alike("staging", static_cast<std::uint64_t>(my_rank()));
    agreement.fault(std::nullopt);
    if (my_rank() >= lowest) {
        agreement.fault(Error(ErrorCode::invalid_argument, std::to_string(my_rank()) + " blocks"));
        agreement.fault(Error(ErrorCode::invalid_argument, "a second fault"));
    }
    EXPECT_EQ(complaint_of(agreement), "rank " + std::to_string(lowest) + ": " + std::to_string(lowest) + " blocks");
}

TEST(Agreement, takes_the_maxima_from_another_reduction) {
    Agreement agreement;
    std::uint64_t const& least = agreement.least(7);
    std::uint64_t const& most = agreement.most(7);
    agreement.run(MPI_COMM_WORLD, [](std::span<std::uint64_t> values) {
        ASSERT_EQ(values.size(), 3U);
        values[1] = std::max(values[1], ~std::uint64_t{3});
        values[2] = std::max(values[2], std::uint64_t{9});
    });
    EXPECT_EQ(least, 3U);
    EXPECT_EQ(most, 9U);
}

TEST(Agreement, refuses_more_values_than_it_has_room_for) {
    Agreement agreement;
    EXPECT_THROW(for (int i = 0; i < 1000; ++i) agreement.alike("value", 1), Error);
}

}  // namespace
}  // namespace sluice::groups
