// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/flood/hold_rule.hpp"

#include <gtest/gtest.h>

namespace sluice::plugin {
namespace {

using std::chrono::milliseconds;
using Verdict = HoldRule::Verdict;

constexpr HoldRule::Time k_begin{};

TEST(HoldRule, keeps_while_receives_complete_but_no_longer_than_the_hold) {
    HoldRule rule(milliseconds(10), milliseconds(1000), k_begin, 0);
    for (int ms = 1; ms < 1000; ++ms)
        ASSERT_EQ(rule.ask(k_begin + milliseconds(ms), static_cast<std::uint64_t>(ms)), Verdict::keep);
    EXPECT_EQ(rule.ask(k_begin + milliseconds(1000), 1000), Verdict::too_long);
}

TEST(HoldRule, lets_go_when_no_receive_completes) {
    HoldRule rule(milliseconds(10), milliseconds(1000), k_begin, 5);
    EXPECT_EQ(rule.ask(k_begin + milliseconds(9), 5), Verdict::keep);
    EXPECT_EQ(rule.ask(k_begin + milliseconds(10), 5), Verdict::silent);
}

TEST(HoldRule, counts_the_silence_from_the_last_receive) {
    HoldRule rule(milliseconds(10), milliseconds(1000), k_begin, 5);
    EXPECT_EQ(rule.ask(k_begin + milliseconds(8), 6), Verdict::keep);
    EXPECT_EQ(rule.ask(k_begin + milliseconds(17), 6), Verdict::keep);
    EXPECT_EQ(rule.ask(k_begin + milliseconds(18), 6), Verdict::silent);
}

TEST(HoldRule, takes_no_word_for_silence) {
    HoldRule rule(milliseconds(10), milliseconds(1000), k_begin, std::nullopt);
    EXPECT_EQ(rule.ask(k_begin + milliseconds(9), std::nullopt), Verdict::keep);
    EXPECT_EQ(rule.ask(k_begin + milliseconds(10), std::nullopt), Verdict::silent);
}

TEST(HoldRule, with_no_hold_nothing_is_held) {
    HoldRule rule(HoldRule::patience_after(0, milliseconds(10), milliseconds(0)), milliseconds(0), k_begin, 5);
    EXPECT_NE(rule.ask(k_begin, 6), Verdict::keep);
}

TEST(HoldRule, waits_longer_for_a_receiver_that_was_silent_and_never_longer_than_the_hold) {
    auto const after = [](int silent) {
        return HoldRule::patience_after(silent, milliseconds(10), milliseconds(1000));
    };
    EXPECT_EQ(after(0), milliseconds(10));
    EXPECT_EQ(after(3), milliseconds(80));
    EXPECT_EQ(after(7), milliseconds(1000));
    EXPECT_EQ(after(1000000), milliseconds(1000));
}

}  // namespace
}  // namespace sluice::plugin
