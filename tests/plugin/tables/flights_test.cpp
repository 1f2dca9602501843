// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/open/flights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "support/effort.hpp"

namespace sluice::plugin {

namespace {

constexpr std::uint32_t k_site = 3;
constexpr std::uint32_t k_other = 5;

FlyingRange at(std::uintptr_t from, std::uint64_t bytes) {
    return {from, bytes, bytes};
}

TEST(Flights, one_buffer_that_is_sent_several_times_counts_once) {
    Flights flights;
    std::array<std::uint32_t, 3> places{};
    for (std::uint32_t& place : places)
        place = flights.add(k_site, at(1000, 800));
    EXPECT_EQ(flights.of_rank(), 800U);
    EXPECT_EQ(flights.of_site(k_site), 800U);
    flights.remove(k_site, at(1000, 800), places[0]);
    flights.remove(k_site, at(1000, 800), places[1]);
    EXPECT_EQ(flights.of_rank(), 800U);
    flights.remove(k_site, at(1000, 800), places[2]);
    EXPECT_EQ(flights.of_rank(), 0U);
    EXPECT_EQ(flights.of_site(k_site), 0U);
}

TEST(Flights, one_buffer_of_two_sites_counts_for_each_and_once_for_the_rank) {
    Flights flights;
    std::uint32_t const first = flights.add(k_site, at(1000, 800));
    std::uint32_t const second = flights.add(k_other, at(1000, 800));
    EXPECT_EQ(flights.of_rank(), 800U);
    EXPECT_EQ(flights.of_site(k_site), 800U);
    EXPECT_EQ(flights.of_site(k_other), 800U);
    flights.remove(k_site, at(1000, 800), first);
    EXPECT_EQ(flights.of_rank(), 800U);
    EXPECT_EQ(flights.of_site(k_site), 0U);
    flights.remove(k_other, at(1000, 800), second);
    EXPECT_EQ(flights.of_rank(), 0U);
}

TEST(Flights, parts_of_a_buffer_count_as_their_union) {
    Flights flights;
    flights.add(k_site, at(1000, 100));
    flights.add(k_site, at(1050, 100));
    EXPECT_EQ(flights.of_rank(), 150U);
    std::uint32_t const all = flights.add(k_site, at(900, 400));
    EXPECT_EQ(flights.of_rank(), 400U);
    flights.remove(k_site, at(900, 400), all);
    EXPECT_EQ(flights.of_rank(), 150U);
    EXPECT_EQ(flights.of_site(k_site), 150U);
}

TEST(Flights, columns_of_one_matrix_that_mesh_are_two) {
    Flights flights;
    FlyingRange const left{1000, 8000, 80};
    FlyingRange const right{1072, 8000, 80};
    flights.add(k_site, left);
    flights.add(k_site, right);
    EXPECT_EQ(flights.of_rank(), 160U);
    flights.add(k_site, left);
    EXPECT_EQ(flights.of_rank(), 160U) << "the same column again";
    flights.add(k_site, at(900, 10'000));
    EXPECT_EQ(flights.of_rank(), 10'000U) << "the matrix has both";
}

TEST(Flights, more_ranges_than_there_is_room_for_are_counted_alone_and_told) {
    Flights flights;
    std::vector<std::uint32_t> places;
    for (std::uintptr_t i = 0; i < Flights::k_room + 10; ++i)
        places.push_back(flights.add(k_site, at(1000 * (i + 1), 10)));
    EXPECT_EQ(flights.of_rank(), 10 * (Flights::k_room + 10));
    EXPECT_EQ(flights.alone(), 10U);
    flights.add(k_site, at(1000 * (Flights::k_room + 5), 10));
    EXPECT_EQ(flights.alone(), 11U) << "it is one of those, which is not known";
    for (std::uintptr_t i = 0; i < places.size(); ++i)
        flights.remove(k_site, at(1000 * (i + 1), 10), places[i]);
    EXPECT_EQ(flights.of_rank(), 10U);
}

/// Bytes that ranges without gaps touch, byte by byte.
std::uint64_t touched(std::vector<FlyingRange> const& ranges) {
    std::array<bool, 256> busy{};
    for (FlyingRange const& range : ranges)
        std::fill_n(busy.begin() + static_cast<std::ptrdiff_t>(range.from), range.span, true);
    return static_cast<std::uint64_t>(std::count(busy.begin(), busy.end(), true));
}

TEST(Flights, are_as_a_map_of_bytes_has_them) {
    std::mt19937 random(11);  // the same in each run
    Flights flights;
    struct Open {
        std::uint32_t site;
        FlyingRange range;
        std::uint32_t place;
    };
    std::vector<Open> open;
    int const steps = sluice::tests::effort(20'000);
    for (int step = 0; step < steps; ++step) {
        if (open.size() < Flights::k_room && (open.empty() || random() % 2 == 0)) {
            FlyingRange const range = at(1 + random() % 128, 1 + random() % 100);
            auto const site = static_cast<std::uint32_t>(random() % 3);
            open.push_back({site, range, flights.add(site, range)});
        } else {
            std::size_t const which = random() % open.size();
            flights.remove(open[which].site, open[which].range, open[which].place);
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
        }
        for (std::uint32_t site = 0; site <= 3; ++site) {
            std::vector<FlyingRange> ranges;
            for (Open const& one : open)
                if (site == 3 || one.site == site) ranges.push_back(one.range);
            ASSERT_EQ(site == 3 ? flights.of_rank() : flights.of_site(site), touched(ranges)) << step;
        }
    }
    EXPECT_EQ(flights.alone(), 0U);
}

}  // namespace

}  // namespace sluice::plugin
