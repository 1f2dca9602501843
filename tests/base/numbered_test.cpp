// SPDX-License-Identifier: BSD-3-Clause
#include "base/numbered.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace sluice::base {
namespace {

TEST(Numbered, gives_each_object_a_number_of_its_own) {
    Numbered<int> numbered;
    EXPECT_FALSE(numbered.has_given(0));
    EXPECT_EQ(numbered.add(10), 0U);
    EXPECT_EQ(numbered.add(11), 1U);
    EXPECT_EQ(numbered[0], 10);
    EXPECT_EQ(numbered[1], 11);
    EXPECT_TRUE(numbered.has_given(1));
    EXPECT_FALSE(numbered.has_given(2));
    EXPECT_EQ(numbered.size(), 2U);
}

TEST(Numbered, gives_the_number_of_a_taken_object_again) {
    Numbered<int> numbered;
    for (int i = 0; i < 3; ++i)
        numbered.add(i);
    EXPECT_EQ(numbered.take(1), 1);
    EXPECT_EQ(numbered.size(), 2U);
    EXPECT_EQ(numbered.add(7), 1U);
    EXPECT_EQ(numbered[1], 7);
    EXPECT_EQ(numbered.add(8), 3U);
}

TEST(Numbered, keeps_nothing_of_a_taken_object) {
    Numbered<std::shared_ptr<int>> numbered;
    auto const object = std::make_shared<int>(1);
    std::uint32_t const number = numbered.add(object);
    EXPECT_EQ(numbered.take(number), object);
    EXPECT_EQ(object.use_count(), 1);
    EXPECT_EQ(numbered[number], nullptr);
}

}  // namespace
}  // namespace sluice::base
