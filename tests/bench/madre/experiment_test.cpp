// SPDX-License-Identifier: BSD-3-Clause
#include "madre/experiment.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

namespace sluice::bench {
namespace {

/// Returns the number of blocks from each rank to each other rank.
std::map<std::pair<int, int>, int> transmission_graph(Experiment const& experiment) {
    std::map<std::pair<int, int>, int> edges;
    for (int rank = 0; rank < experiment.ranks(); ++rank)
        for (std::uint64_t block = 0; block < experiment.live(rank); ++block)
            ++edges[{rank, experiment.destination(rank, block).rank}];
    return edges;
}

TEST(Experiment, sends_no_two_blocks_to_one_address_and_none_out_of_range) {
    for (int number = 1; number <= 5; ++number)
        for (int ranks : {2, 3, 7, 64})
            for (std::uint64_t blocks : {std::uint64_t{2}, std::uint64_t{10}, std::uint64_t{64}, std::uint64_t{101}}) {
                Experiment const experiment(number, ranks, blocks, number == 3 ? blocks / 2 : 0);
                std::set<std::pair<int, std::int64_t>> taken;
                for (int rank = 0; rank < ranks; ++rank)
                    for (std::uint64_t block = 0; block < experiment.live(rank); ++block) {
                        Destination const to = experiment.destination(rank, block);
                        ASSERT_GE(to.rank, 0);
                        ASSERT_LT(to.rank, ranks);
                        ASSERT_LT(static_cast<std::uint64_t>(to.index), blocks)
                            << "experiment " << number << ", " << ranks << " ranks, " << blocks << " blocks";
                        ASSERT_TRUE(taken.insert({to.rank, to.index}).second);
                    }
            }
}

TEST(Experiment, one_and_two_send_everything_to_the_next_rank_with_no_and_with_20_percent_of_free_space) {
    EXPECT_EQ(Experiment(1, 8, 100).live(3), 100U);
    EXPECT_EQ(Experiment(2, 8, 100).live(3), 80U);
    EXPECT_EQ(Experiment(3, 8, 100, 7).live(3), 93U);
    EXPECT_EQ(Experiment(1, 8, 100).destination(7, 5), (Destination{0, 5}));
}

TEST(Experiment, four_has_one_empty_rank_and_scatters_equal_portions_to_all_others) {
    Experiment const experiment(4, 5, 64);
    EXPECT_EQ(experiment.live(0), 0U);
    auto const graph = transmission_graph(experiment);
    EXPECT_EQ(graph.size(), 16U);  // 4 ranks that hold blocks, and each sends to 4 others
    for (auto const& [edge, blocks] : graph)
        EXPECT_EQ(blocks, 16);
}

TEST(Experiment, five_is_a_complete_graph_of_almost_equal_weights) {
    Experiment const experiment(5, 6, 100);
    auto const graph = transmission_graph(experiment);
    EXPECT_EQ(graph.size(), 36U);
    for (auto const& [edge, blocks] : graph)
        EXPECT_NEAR(blocks, 80.0 / 6, 1.0);
}

TEST(Experiment, refuses_what_leaves_nothing_to_move) {
    EXPECT_THROW(Experiment(6, 8, 100), Error);
    EXPECT_THROW(Experiment(1, 1, 100), Error);
    EXPECT_THROW(Experiment(3, 8, 100, 100), Error);
}

}  // namespace
}  // namespace sluice::bench
