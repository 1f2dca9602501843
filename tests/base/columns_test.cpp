// SPDX-License-Identifier: BSD-3-Clause
#include "base/columns.hpp"

#include <gtest/gtest.h>

namespace sluice::base {
namespace {

TEST(Columns, are_code_points) {
    EXPECT_EQ(columns_of(""), 0U);
    EXPECT_EQ(columns_of("1 µs"), 4U);
}

TEST(Columns, are_code_points_when_text_is_wrapped) {
    std::string const text = wrapped("label  ", "äöü äöü äöü äöü", 15);
    EXPECT_EQ(text, "label  äöü äöü\n       äöü äöü\n");
    EXPECT_EQ(wrapped("", "abcdefghijklmnop", 9), "abcd…mnop\n");
    EXPECT_EQ(wrapped("x ", "", 9), "x \n");
}

TEST(Columns, keep_a_number_with_its_unit) {
    EXPECT_EQ(wrapped("", "took 25.9 ms, of 8", 9), "took\n25.9 ms,\nof 8\n");
    EXPECT_EQ(wrapped("", "in all 12 %", 9), "in all\n12 %\n");
    EXPECT_EQ(wrapped("", "in all 12 ranks", 9), "in all 12\nranks\n");
    EXPECT_EQ(wrapped("", "flight 0 B", 8), "flight\n0 B\n");
    EXPECT_EQ(wrapped("", "the last 7", 9), "the last\n7\n");
}

}  // namespace
}  // namespace sluice::base
