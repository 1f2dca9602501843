// SPDX-License-Identifier: BSD-3-Clause
#include "engine/patience.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <limits>
#include <vector>

namespace sluice::engine {
namespace {

TEST(Patience, sleeps_only_after_its_spins_and_yields) {
    Patience patience({.spins = 2, .yields = 3});
    std::vector<bool> slept;
    for (int look = 0; look < 7; ++look) {
        bool now = false;
        patience.after(false, [&now] { return now = true; });
        slept.push_back(now);
    }
    EXPECT_EQ(slept, (std::vector<bool>{false, false, false, false, false, true, true}));
}

TEST(Patience, what_moves_starts_the_count_again) {
    Patience patience({.spins = 1, .yields = 0});
    int sleeps = 0;
    auto const fall_asleep = [&sleeps] { return ++sleeps > 0; };
    patience.after(false, fall_asleep);
    EXPECT_EQ(patience.in_vain(), 1U);
    patience.after(true, fall_asleep);
    EXPECT_EQ(patience.in_vain(), 0U);
    patience.after(false, fall_asleep);
    EXPECT_EQ(sleeps, 0);
    patience.after(false, fall_asleep);
    EXPECT_EQ(sleeps, 1);
}

TEST(Patience, never_sleeps_unless_told_how_long_to_yield) {
    Patience patience({.spins = 3});
    for (int look = 0; look < 1000; ++look)
        patience.after(false, [] {
            ADD_FAILURE() << "it slept";
            return true;
        });
    EXPECT_EQ(patience.in_vain(), 1000U);
}

/// Counts the calls that it gets.
class Told final : public kernel::Pollable {
  public:
    bool poll() override { return false; }
    void stall() override { ++stalls; }
    bool is_under_way() const noexcept override { return under_way; }
    void wait_a_moment() noexcept override { ++moments; }
    int stalls = 0;
    int moments = 0;
    bool under_way = false;
};

constexpr double k_at_once = 0;
constexpr double k_never = std::numeric_limits<double>::infinity();

TEST(ProgressPatience, tells_what_stands_still_that_it_stalls) {
    kernel::Progress progress;
    Told told;
    progress.add(told);
    ProgressPatience patience(progress, 0);
    patience.after(false, k_never);
    EXPECT_EQ(told.stalls, 0);
    patience.after(false, k_at_once);
    EXPECT_EQ(told.stalls, 1);
    patience.after(true, k_at_once);
    EXPECT_EQ(told.stalls, 1);
    EXPECT_EQ(told.moments, 0);
}

TEST(ProgressPatience, past_its_spins_it_waits_for_what_ends_by_itself_and_does_not_stall_that) {
    kernel::Progress progress;
    Told told;
    told.under_way = true;
    progress.add(told);
    ProgressPatience patience(progress, 2);
    patience.after(false, k_at_once);
    patience.after(false, k_at_once);
    EXPECT_EQ(told.moments, 0);
    patience.after(false, k_at_once);
    EXPECT_EQ(told.moments, 1);
    EXPECT_EQ(told.stalls, 0);
}

}  // namespace
}  // namespace sluice::engine
