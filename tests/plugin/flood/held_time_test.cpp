// SPDX-License-Identifier: BSD-3-Clause
/// Holds of several sends at once count once.
#include "plugin/services/flood/held_time.hpp"

#include <gtest/gtest.h>

namespace sluice::plugin {
namespace {

using std::chrono::milliseconds;

HoldRule::Time at(int ms) {
    return HoldRule::Time(milliseconds(ms));
}

TEST(HeldTime, is_that_of_a_hold_alone) {
    HeldTime time;
    time.begin(at(10));
    EXPECT_EQ(time.end(at(14)), milliseconds(4));
    time.begin(at(20));
    EXPECT_EQ(time.end(at(21)), milliseconds(1));
}

TEST(HeldTime, of_holds_that_overlap_goes_from_the_first_begin_to_the_last_end) {
    HeldTime time;
    time.begin(at(0));
    time.begin(at(5));
    EXPECT_EQ(time.end(at(6)), milliseconds(0)) << "another hold goes on";
    time.begin(at(8));
    EXPECT_EQ(time.end(at(9)), milliseconds(0));
    EXPECT_EQ(time.end(at(10)), milliseconds(10));
}

}  // namespace
}  // namespace sluice::plugin
