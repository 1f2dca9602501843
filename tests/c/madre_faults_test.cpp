// SPDX-License-Identifier: BSD-3-Clause
// A wrong argument of MADRE_create on one rank: no rank gets an object, and none waits for another.
#include <gtest/gtest.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "madre.h"

namespace {

class MadreFaults : public testing::Test {
  protected:
    MadreFaults() {
        int size = 0;
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        is_last_ = rank == size - 1;
    }
    /// Makes an object of the last rank's wrong numbers and the other ranks' right ones.
    MADRE_Object object_of(int blocks, int block_length) {
        std::string strategy = "token";
        return MADRE_create(data_.data(), strategy.data(), is_last_ ? blocks : 4, is_last_ ? block_length : 2,
                            MPI_DOUBLE, MPI_COMM_WORLD);
    }
    bool is_last_ = false;
    std::vector<double> data_ = std::vector<double>(8);
};

TEST_F(MadreFaults, a_negative_number_of_blocks_is_refused_on_every_rank) {
    EXPECT_EQ(object_of(-1, 2), MADRE_OBJECT_NULL);
}

TEST_F(MadreFaults, blocks_without_elements_are_refused_on_every_rank) {
    EXPECT_EQ(object_of(4, 0), MADRE_OBJECT_NULL);
    EXPECT_EQ(object_of(4, -3), MADRE_OBJECT_NULL);
}

TEST_F(MadreFaults, right_numbers_are_accepted) {
    MADRE_Object object = object_of(4, 2);
    ASSERT_NE(object, MADRE_OBJECT_NULL);
    MADRE_destroy(object);
}

}  // namespace
