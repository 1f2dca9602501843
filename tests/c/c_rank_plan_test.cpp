// SPDX-License-Identifier: BSD-3-Clause
/// Redistribution by rank in C: what the C++ form does, and its own errors.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sluice/sluice.h"

namespace {

class RankPlanInC : public testing::Test {
  protected:
    RankPlanInC() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
        EXPECT_EQ(sluice_context_create(MPI_COMM_WORLD, nullptr, &context_), SLUICE_SUCCESS) << sluice_last_error();
    }
    ~RankPlanInC() override { EXPECT_EQ(sluice_context_free(&context_), SLUICE_SUCCESS) << sluice_last_error(); }

    int make(std::vector<int> const& ranks, std::uint64_t room = UINT64_MAX,
             sluice_block_order order = SLUICE_BLOCKS_BY_SOURCE) {
        return sluice_rank_plan_create(context_, ranks.size(), ranks.data(), room, order, nullptr, &plan_);
    }

    int rank_ = 0;
    int size_ = 0;
    sluice_context* context_ = nullptr;
    sluice_rank_plan* plan_ = nullptr;
};

TEST_F(RankPlanInC, moves_two_arrays_by_one_list) {
    // Each rank has a block for every rank, and drops the last.
    std::vector<int> ranks;
    std::vector<std::uint64_t> numbers;
    for (int to = 0; to <= size_; ++to) {
        ranks.push_back(to < size_ ? to : -1);
        numbers.push_back(static_cast<std::uint64_t>(100 * rank_ + to));
    }
    std::vector<char> letters;
    for (std::uint64_t const number : numbers)
        letters.push_back(static_cast<char>(number % 97));
    ASSERT_EQ(make(ranks), SLUICE_SUCCESS) << sluice_last_error();
    EXPECT_EQ(sluice_rank_plan_count_after(plan_), static_cast<std::uint64_t>(size_));
    EXPECT_EQ(sluice_rank_plan_slots(plan_), static_cast<std::uint64_t>(size_ + 1));
    sluice_blocks const arrays[2] = {{numbers.data(), numbers.size(), sizeof(std::uint64_t)},
                                     {letters.data(), letters.size(), 1}};
    ASSERT_EQ(sluice_rank_plan_apply(plan_, 2, arrays, nullptr), SLUICE_SUCCESS) << sluice_last_error();
    for (int from = 0; from < size_; ++from) {
        auto const at = static_cast<std::size_t>(from);
        EXPECT_EQ(numbers[at], static_cast<std::uint64_t>(100 * from + rank_));
        EXPECT_EQ(letters[at], static_cast<char>(numbers[at] % 97));
    }
    EXPECT_EQ(sluice_rank_plan_free(&plan_), SLUICE_SUCCESS);
    EXPECT_EQ(plan_, nullptr);
}

TEST_F(RankPlanInC, refuses_wrong_arguments_on_all_ranks) {
    std::vector<int> ranks(10, rank_);
    std::vector<int> wrong = ranks;
    if (rank_ == size_ - 1) wrong[4] = size_;
    EXPECT_EQ(make(wrong), SLUICE_INVALID_ARGUMENT);
    EXPECT_NE(std::string(sluice_last_error()).find("block 4 of rank"), std::string::npos) << sluice_last_error();
    EXPECT_EQ(plan_, nullptr);
    EXPECT_EQ(make(ranks, rank_ == 0 ? 9 : 10), SLUICE_INVALID_ARGUMENT);
    EXPECT_NE(std::string(sluice_last_error()).find("has room for 9"), std::string::npos) << sluice_last_error();
    EXPECT_EQ(sluice_rank_plan_create(context_, rank_ == 0 ? 1 : 0, nullptr, 9, SLUICE_BLOCKS_ANY, nullptr, &plan_),
              SLUICE_INVALID_ARGUMENT);
    EXPECT_EQ(sluice_rank_plan_count_after(nullptr), 0U);
    EXPECT_EQ(sluice_rank_plan_free(nullptr), SLUICE_INVALID_ARGUMENT);
    ASSERT_EQ(make(ranks), SLUICE_SUCCESS) << sluice_last_error();
    sluice_blocks const few{ranks.data(), 9, sizeof(int)};
    EXPECT_EQ(sluice_rank_plan_apply(plan_, 1, &few, nullptr), SLUICE_INVALID_ARGUMENT);
    EXPECT_EQ(sluice_rank_plan_free(&plan_), SLUICE_SUCCESS);
}

}  // namespace
