// SPDX-License-Identifier: BSD-3-Clause
#include "groups/agree.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <string>

#include "mpi/mpi.hpp"

namespace sluice::engine {
namespace {

int my_rank() {
    return mpi::rank_in(MPI_COMM_WORLD);
}
int ranks() {
    return mpi::size_of(MPI_COMM_WORLD);
}

TEST(Agree, nobody_throws_when_nobody_has_an_error) {
    EXPECT_NO_THROW(groups::agree_on_no_error(MPI_COMM_WORLD, std::nullopt));
}

TEST(Agree, all_throw_the_error_of_the_lowest_rank_that_has_one) {
    std::optional<Error> mine;
    if (my_rank() >= ranks() / 2)
        mine.emplace(ErrorCode::out_of_memory, "rank " + std::to_string(my_rank()) + " has 7 bytes");
    try {
        groups::agree_on_no_error(MPI_COMM_WORLD, mine);
        FAIL() << "no error was thrown";
    } catch (Error const& error) {
        EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
        EXPECT_EQ(std::string(error.what()), "rank " + std::to_string(ranks() / 2) + " has 7 bytes");
    }
}

TEST(Agree, an_empty_error_text_arrives_too) {
    try {
        groups::agree_on_no_error(MPI_COMM_WORLD, Error(ErrorCode::unsupported, ""));
        FAIL() << "no error was thrown";
    } catch (Error const& error) {
        EXPECT_EQ(error.code(), ErrorCode::unsupported);
        EXPECT_STREQ(error.what(), "");
    }
}

TEST(Agree, one_rank_that_says_no_is_heard_by_all) {
    EXPECT_TRUE(groups::all_true(MPI_COMM_WORLD, true));
    bool const last = my_rank() == ranks() - 1;
    EXPECT_FALSE(groups::all_true(MPI_COMM_WORLD, !last));
}

TEST(Agree, least_most_and_sum) {
    auto const mine = static_cast<std::uint64_t>(my_rank()) + 1;
    auto const n = static_cast<std::uint64_t>(ranks());
    EXPECT_EQ(groups::least_of(MPI_COMM_WORLD, mine), 1U);
    EXPECT_EQ(groups::most_of(MPI_COMM_WORLD, mine), n);
    EXPECT_EQ(groups::sum_of(MPI_COMM_WORLD, mine), n * (n + 1) / 2);
}

}  // namespace
}  // namespace sluice::engine
