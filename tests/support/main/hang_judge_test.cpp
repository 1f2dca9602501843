// SPDX-License-Identifier: BSD-3-Clause
#include "support/main/hang_judge.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

/// Ranks that are looked at every second.
class HangJudging : public testing::Test {
  protected:
    /// Judges a second in which each rank was busy for the given time; only the first `up_to_date` ranks have reported
    /// it.
    Hang second(std::vector<nanoseconds> const& busy, std::size_t up_to_date = 8, nanoseconds gap = 1s) {
        now_ += gap;
        for (std::size_t i = 0; i < busy.size(); ++i) {
            uses_[i].busy += busy[i];
            if (i < up_to_date) ++uses_[i].looks;
        }
        return judge_.look(now_, uses_);
    }

    Hang seconds(int number, std::vector<nanoseconds> const& busy) {
        Hang hang = Hang::none;
        for (int i = 0; i < number && hang == Hang::none; ++i)
            hang = second(busy);
        return hang;
    }

    std::vector<RankUse> uses_ = std::vector<RankUse>(3);
    HangJudge judge_{{100s, 60s}};
    nanoseconds now_{0};
};

TEST_F(HangJudging, ends_ranks_that_all_sleep_for_the_limit) {
    EXPECT_EQ(seconds(60, {0s, 0s, 0s}), Hang::none);  // the first look only begins the measurement
    EXPECT_EQ(second({0s, 0s, 0s}), Hang::sleeps);
}

TEST_F(HangJudging, takes_ranks_for_asleep_that_only_look_now_and_then) {
    EXPECT_EQ(seconds(61, {10ms, 10ms, 10ms}), Hang::sleeps);
}

TEST_F(HangJudging, lets_ranks_wait_for_one_that_is_busy) {
    EXPECT_EQ(seconds(1000, {0s, 1s, 0s}), Hang::none);
}

TEST_F(HangJudging, lets_ranks_wait_for_one_that_gets_a_processor_seldom) {
    EXPECT_EQ(seconds(1000, {0s, 100ms, 0s}), Hang::none);
}

TEST_F(HangJudging, counts_again_after_a_step) {
    EXPECT_EQ(seconds(60, {0s, 0s, 0s}), Hang::none);
    ++uses_[2].steps;
    EXPECT_EQ(seconds(60, {0s, 0s, 0s}), Hang::none);
    EXPECT_EQ(second({0s, 0s, 0s}), Hang::sleeps);
}

TEST_F(HangJudging, counts_again_after_work) {
    EXPECT_EQ(seconds(60, {0s, 0s, 0s}), Hang::none);
    EXPECT_EQ(second({4s, 0s, 0s}), Hang::none);
    EXPECT_EQ(seconds(59, {0s, 0s, 0s}), Hang::none);
    EXPECT_EQ(second({0s, 0s, 0s}), Hang::sleeps);
}

TEST_F(HangJudging, does_not_judge_ranks_by_old_figures) {
    for (int i = 0; i < 200; ++i)
        EXPECT_EQ(second({0s, 0s, 0s}, 2), Hang::none);
}

TEST_F(HangJudging, takes_the_figures_of_a_rank_that_has_ended_for_final) {
    uses_[2].ended = true;
    Hang hang = Hang::none;
    for (int i = 0; i < 61; ++i)
        hang = second({0s, 0s, 0s}, 2);
    EXPECT_EQ(hang, Hang::sleeps);
}

TEST_F(HangJudging, ends_a_rank_that_has_used_its_processor_time) {
    uses_[1].processor = 99s;
    EXPECT_EQ(second({1s, 1s, 1s}), Hang::none);
    uses_[1].processor = 100s;
    EXPECT_EQ(second({1s, 1s, 1s}), Hang::spins);
}

TEST_F(HangJudging, a_machine_that_stood_still_is_no_hang) {
    EXPECT_EQ(second({0s, 0s, 0s}), Hang::none);
    EXPECT_EQ(second({0s, 0s, 0s}, 8, 1h), Hang::none);
    EXPECT_EQ(second({0s, 0s, 0s}), Hang::none);
}

}  // namespace
}  // namespace sluice::tests
