// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/parking/parking.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "sluice/redistribute.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::redistribution {
namespace {

using Counts = std::vector<std::uint64_t>;

Counts apportioned(std::uint64_t free, int rank, Counts const& requests) {
    Counts grants(requests.size(), 99);
    std::uint64_t const granted = apportion_first_fit(free, rank, requests, grants);
    EXPECT_EQ(granted, std::accumulate(grants.begin(), grants.end(), std::uint64_t{0}));
    return grants;
}

TEST(Apportioning, grants_everything_when_there_is_room) {
    EXPECT_EQ(apportioned(9, 1, {2, 0, 3}), (Counts{2, 0, 3}));
}

TEST(Apportioning, gives_the_first_sources_behind_the_own_rank_what_fits) {
    EXPECT_EQ(apportioned(4, 1, {2, 0, 3, 2}), (Counts{0, 0, 3, 1}));
    EXPECT_EQ(apportioned(4, 3, {2, 1, 3, 0}), (Counts{2, 1, 1, 0}));
}

TEST(Apportioning, grants_nothing_without_free_space) {
    EXPECT_EQ(apportioned(0, 0, {0, 5, 5}), (Counts{0, 0, 0}));
}

std::vector<ParkingPair> matched(std::vector<ParkingOffer> offers) {
    std::vector<ParkingPair> pairs(offers.size());
    pairs.resize(match_parking_at_root(offers, pairs));
    return pairs;
}

TEST(RootMatching, parks_nothing_when_nobody_needs_to) {
    EXPECT_TRUE(matched({{.extra = 5}, {.extra = 3}}).empty());
}

TEST(RootMatching, parks_nothing_when_nobody_has_extra_space) {
    EXPECT_TRUE(matched({{.to_park = 5}, {.to_park = 3}}).empty());
}

TEST(RootMatching, fills_the_first_hosts_first) {
    EXPECT_EQ(matched({{.to_park = 5}, {.extra = 3}, {.to_park = 2}, {.extra = 10}}),
              (std::vector<ParkingPair>{{0, 1, 3}, {0, 3, 2}, {2, 3, 2}}));
}

TEST(RootMatching, leaves_unparked_what_does_not_fit) {
    EXPECT_EQ(matched({{.to_park = 5}, {.to_park = 5}, {.extra = 6}}),
              (std::vector<ParkingPair>{{0, 2, 5}, {1, 2, 1}}));
}

/// Runs the strategy on arrays of `slots` slots on every rank, of which the last `free` are free.
RedistributionReport redistribute_by_parking(Context& context, std::uint64_t slots, std::uint64_t free,
                                             std::function<Destination(std::uint64_t)> const& map) {
    std::vector<std::uint64_t> numbers(slots);
    std::vector<Destination> destinations(slots, free_block);
    for (std::uint64_t i = 0; i + free < slots; ++i) {
        numbers[i] = static_cast<std::uint64_t>(context.rank()) << 32 | i;
        destinations[i] = map(i);
    }
    return redistribute(context, blocks_of(std::span(numbers)), destinations,
                        {.strategy = Strategy::parking, .staging = {}});
}

SLUICE_NEEDS_RANKS(2, ParkingStrategy, needs_as_many_phases_as_the_free_space_allows_when_everybody_sends_to_the_next);
TEST(ParkingStrategy, needs_as_many_phases_as_the_free_space_allows_when_everybody_sends_to_the_next) {
    Context context(MPI_COMM_WORLD);
    int const next = (context.rank() + 1) % context.size();
    RedistributionReport const report = redistribute_by_parking(context, 25, 5, [&](std::uint64_t i) {
        return Destination{next, static_cast<std::int64_t>(i)};
    });
    EXPECT_EQ(report.rounds, 4U);  // 20 blocks through 5 free slots
    EXPECT_EQ(report.blocks_sent, 20U);
}

SLUICE_NEEDS_RANKS(2, ParkingStrategy,
                   transposes_in_4_phases_with_a_fifth_of_the_space_free_whatever_the_number_of_ranks);
TEST(ParkingStrategy, transposes_in_4_phases_with_a_fifth_of_the_space_free_whatever_the_number_of_ranks) {
    Context context(MPI_COMM_WORLD);
    std::uint64_t const ranks = static_cast<std::uint64_t>(context.size());
    std::uint64_t const live = 20 * ranks;  // experiment 5 of the paper, smaller
    RedistributionReport const report = redistribute_by_parking(context, 25 * ranks, 5 * ranks, [&](std::uint64_t i) {
        std::uint64_t const flat = live * static_cast<std::uint64_t>(context.rank()) + i;
        return Destination{static_cast<int>(flat % ranks), static_cast<std::int64_t>(flat / ranks)};
    });
    EXPECT_LE(report.rounds, 4U);
}

SLUICE_NEEDS_RANKS(3, ParkingStrategy, parks_blocks_on_the_one_rank_with_free_space);
TEST(ParkingStrategy, parks_blocks_on_the_one_rank_with_free_space) {
    Context context(MPI_COMM_WORLD);
    // Ranks 0 and 1 swap 8 blocks each and have no free slot; rank 2 has nothing but free slots.
    std::uint64_t const slots = context.rank() <= 2 ? 8 : 0;
    std::uint64_t const free = context.rank() == 2 ? 8 : 0;
    RedistributionReport const report = redistribute_by_parking(context, slots, free, [&](std::uint64_t i) {
        return Destination{1 - context.rank(), static_cast<std::int64_t>(i)};
    });
    EXPECT_LE(report.rounds, 3U);  // without parking no rank could ever receive
    if (context.rank() == 2) {
        EXPECT_EQ(report.blocks_received, report.blocks_sent);
        EXPECT_GT(report.blocks_received, 0U);
    }
}

SLUICE_NEEDS_RANKS(2, ParkingStrategy, makes_one_free_space_when_there_is_none_anywhere);
TEST(ParkingStrategy, makes_one_free_space_when_there_is_none_anywhere) {
    Context context(MPI_COMM_WORLD);
    int const next = (context.rank() + 1) % context.size();
    RedistributionReport const report = redistribute_by_parking(context, 3, 0, [&](std::uint64_t i) {
        return Destination{next, static_cast<std::int64_t>(2 - i)};
    });
    EXPECT_EQ(report.rounds, 3U * static_cast<std::uint64_t>(context.size()));  // one block in each phase
}

TEST(ParkingStrategy, has_no_phase_when_every_block_stays_on_its_rank) {
    Context context(MPI_COMM_WORLD);
    RedistributionReport const report = redistribute_by_parking(context, 7, 0, [&](std::uint64_t i) {
        return Destination{context.rank(), static_cast<std::int64_t>(6 - i)};
    });
    EXPECT_EQ(report.rounds, 0U);
    EXPECT_EQ(report.blocks_sent, 0U);
}

}  // namespace
}  // namespace sluice::redistribution
