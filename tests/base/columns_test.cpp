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

}  // namespace
}  // namespace sluice::base
