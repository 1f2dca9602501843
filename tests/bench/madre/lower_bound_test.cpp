// SPDX-License-Identifier: BSD-3-Clause
#include "madre/lower_bound.hpp"

#include <gtest/gtest.h>

#include "support/torus.hpp"

namespace sluice::bench {
namespace {

constexpr double k_rate = 100;  // bytes in a second

/// A network in which every host has one link in and one link out, and which itself has no limit.
class Star {
  public:
    std::span<RouteLink const> operator()(int from, int to) {
        route_[0] = {static_cast<std::size_t>(2 * from), k_rate};
        route_[1] = {static_cast<std::size_t>(2 * to) + 1, k_rate};
        return route_;
    }

  private:
    RouteLink route_[2] = {};
};

TEST(LowerBound, of_a_star_is_what_the_busiest_rank_sends_or_receives) {
    LowerBound const bound = lower_bound(Experiment(1, 4, 10), 100, Star());
    EXPECT_DOUBLE_EQ(bound.endpoint_seconds, 10);
    EXPECT_DOUBLE_EQ(bound.link_seconds, 10);
    EXPECT_EQ(bound.bytes, 4000U);
}

TEST(LowerBound, leaves_out_what_stays_on_its_rank) {
    // In the transpose on 2 ranks half of the 80 blocks stay, and 40 leave.
    LowerBound const bound = lower_bound(Experiment(5, 2, 100), 100, Star());
    EXPECT_DOUBLE_EQ(bound.seconds(), 40);
    EXPECT_EQ(bound.bytes, 8000U);
}

TEST(LowerBound, of_a_shared_middle_is_its_load) {
    // All ranks meet in one link with ten times the rate.
    auto const meeting = [route = std::vector<RouteLink>(3)](int from, int to) mutable -> std::span<RouteLink const> {
        route[0] = {static_cast<std::size_t>(1 + 2 * from), k_rate};
        route[1] = {0, 10 * k_rate};
        route[2] = {static_cast<std::size_t>(2 + 2 * to), k_rate};
        return route;
    };
    LowerBound const bound = lower_bound(Experiment(1, 40, 10), 100, meeting);
    EXPECT_DOUBLE_EQ(bound.endpoint_seconds, 10);
    EXPECT_DOUBLE_EQ(bound.link_seconds, 40);
    EXPECT_DOUBLE_EQ(bound.seconds(), 40);
}

TEST(LowerBound, counts_all_the_links_of_an_endpoint_that_its_blocks_use) {
    // On a ring of 5 the transpose leaves in both directions; a map to the next rank leaves in one direction only.
    test::Torus ring({5, 1, 1}, k_rate);
    LowerBound const next = lower_bound(Experiment(1, 5, 10), 100, ring);
    EXPECT_DOUBLE_EQ(next.endpoint_seconds, 10);
    LowerBound const all = lower_bound(Experiment(5, 5, 125), 100, ring);
    EXPECT_DOUBLE_EQ(all.endpoint_seconds, 40);  // 80 blocks over two links
    EXPECT_DOUBLE_EQ(all.link_seconds, 60);      // 20 to the neighbour, and 20 for each of two pairs that are 2 apart
}

TEST(LowerBound, of_the_transpose_on_a_torus_is_that_of_its_links) {
    // 51 blocks on each rank of a 4x4x4 torus.
    LowerBound const bound = lower_bound(Experiment(5, 64, 64), 16000, test::Torus({4, 4, 4}, 150e6));
    EXPECT_GT(bound.link_seconds, 2 * bound.endpoint_seconds);
}

}  // namespace
}  // namespace sluice::bench
