// SPDX-License-Identifier: BSD-3-Clause
/// Redistribution of packed blocks in C: what the C++ form does, and its own errors.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/sluice.h"

namespace {

class PackedPlanInC : public testing::Test {
  protected:
    PackedPlanInC() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
        EXPECT_EQ(sluice_context_create(MPI_COMM_WORLD, nullptr, &context_), SLUICE_SUCCESS) << sluice_last_error();
    }
    ~PackedPlanInC() override { EXPECT_EQ(sluice_context_free(&context_), SLUICE_SUCCESS) << sluice_last_error(); }

    int rank_ = 0;
    int size_ = 0;
    sluice_context* context_ = nullptr;
    sluice_packed_plan* plan_ = nullptr;
};

TEST_F(PackedPlanInC, moves_blocks_of_different_sizes) {
    // Rank r has a block of r + t + 1 numbers for each rank t, and drops a last one.
    std::vector<std::uint64_t> sizes;
    std::vector<int> ranks;
    std::vector<double> data;
    for (int to = 0; to <= size_; ++to) {
        sizes.push_back(static_cast<std::uint64_t>(rank_ + to + 1));
        ranks.push_back(to < size_ ? to : -1);
        data.insert(data.end(), sizes.back(), 100.0 * rank_ + to);
    }
    ASSERT_EQ(
        sluice_packed_plan_create(context_, sizes.size(), sizes.data(), ranks.data(), sizeof(double), nullptr, &plan_),
        SLUICE_SUCCESS)
        << sluice_last_error();
    std::vector<double> must;
    for (int from = 0; from < size_; ++from)
        must.insert(must.end(), static_cast<std::size_t>(from + rank_ + 1), 100.0 * from + rank_);
    ASSERT_EQ(sluice_packed_plan_blocks_after(plan_), static_cast<std::uint64_t>(size_));
    ASSERT_EQ(sluice_packed_plan_elements_after(plan_), must.size());
    data.resize(sluice_packed_plan_elements(plan_));
    ASSERT_EQ(
        sluice_packed_plan_apply(plan_, data.data(), data.size() * sizeof(double), sizes.data(), sizes.size(), nullptr),
        SLUICE_SUCCESS)
        << sluice_last_error();
    data.resize(must.size());
    EXPECT_EQ(data, must);
    for (int from = 0; from < size_; ++from)
        EXPECT_EQ(sizes[static_cast<std::size_t>(from)], static_cast<std::uint64_t>(from + rank_ + 1));
    EXPECT_EQ(sluice_packed_plan_free(&plan_), SLUICE_SUCCESS);
    EXPECT_EQ(plan_, nullptr);
}

TEST_F(PackedPlanInC, refuses_wrong_arguments_on_all_ranks) {
    std::vector<std::uint64_t> sizes(10, 3);
    std::vector<int> ranks(10, rank_);
    std::vector<int> wrong = ranks;
    if (rank_ == size_ - 1) wrong[4] = size_;
    EXPECT_EQ(sluice_packed_plan_create(context_, 10, sizes.data(), wrong.data(), 1, nullptr, &plan_),
              SLUICE_INVALID_ARGUMENT);
    EXPECT_NE(std::string(sluice_last_error()).find("block 4 of rank"), std::string::npos) << sluice_last_error();
    EXPECT_EQ(plan_, nullptr);
    EXPECT_EQ(sluice_packed_plan_create(context_, rank_ == 0 ? 1 : 0, nullptr, ranks.data(), 1, nullptr, &plan_),
              SLUICE_INVALID_ARGUMENT);
    EXPECT_EQ(sluice_packed_plan_create(context_, rank_ == 0 ? 1 : 0, sizes.data(), nullptr, 1, nullptr, &plan_),
              SLUICE_INVALID_ARGUMENT);
    EXPECT_EQ(sluice_packed_plan_elements(nullptr), 0U);
    EXPECT_EQ(sluice_packed_plan_free(nullptr), SLUICE_INVALID_ARGUMENT);
    ASSERT_EQ(sluice_packed_plan_create(context_, 10, sizes.data(), ranks.data(), 1, nullptr, &plan_), SLUICE_SUCCESS)
        << sluice_last_error();
    std::vector<char> data(30, 'x');
    EXPECT_EQ(sluice_packed_plan_apply(plan_, data.data(), rank_ == 0 ? 29 : 30, sizes.data(), 10, nullptr),
              SLUICE_INVALID_ARGUMENT);
    EXPECT_NE(std::string(sluice_last_error()).find("has 29 bytes"), std::string::npos) << sluice_last_error();
    EXPECT_EQ(sluice_packed_plan_apply(plan_, data.data(), 30, nullptr, 10, nullptr), SLUICE_INVALID_ARGUMENT);
    EXPECT_EQ(sluice_packed_plan_apply(plan_, nullptr, 30, sizes.data(), 10, nullptr), SLUICE_INVALID_ARGUMENT);
    EXPECT_EQ(sluice_packed_plan_free(&plan_), SLUICE_SUCCESS);
}

}  // namespace
