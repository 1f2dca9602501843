// SPDX-License-Identifier: BSD-3-Clause
#include "command_line/usage_error.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sluice::command_line {
namespace {

constexpr std::array<std::string_view, 2> k_known{"run", "report"};

TEST(UsageError, suggests_a_near_name) {
    EXPECT_STREQ(unknown("command", "rnu", k_known).what(), "no command is called 'rnu'; did you mean 'run'?");
}

TEST(UsageError, lists_the_names_if_none_is_near) {
    EXPECT_STREQ(unknown("command", "xyzzy", k_known).what(), "no command is called 'xyzzy'; known are run, report");
}

}  // namespace
}  // namespace sluice::command_line
