// SPDX-License-Identifier: BSD-3-Clause
#include "coastline/world/world_curve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

using coastline::WorldCurve;

namespace {

constexpr std::uint32_t k_columns = 360;
constexpr std::uint32_t k_bins = 360 * 180;

}  // namespace

TEST(WorldCurve, gives_every_block_a_place_of_its_own_and_finds_it_again) {
    std::vector<std::uint32_t> blocks_of_bin(k_bins);
    for (std::uint32_t bin = 0; bin < k_bins; ++bin)
        blocks_of_bin[bin] = bin % 7 == 0 ? bin % 5 : 0;
    WorldCurve const curve(k_columns, blocks_of_bin);
    std::vector<bool> taken(curve.blocks());
    for (std::uint32_t bin = 0; bin < k_bins; ++bin) {
        for (std::uint32_t sequence = 0; sequence < blocks_of_bin[bin]; ++sequence) {
            std::uint64_t const position = curve.position(bin, sequence);
            ASSERT_LT(position, taken.size());
            EXPECT_FALSE(taken[position]);
            taken[position] = true;
            WorldCurve::Key const key = curve.at(position);
            EXPECT_EQ(key.bin, bin);
            EXPECT_EQ(key.sequence, sequence);
        }
    }
}

TEST(WorldCurve, steps_to_a_bin_nearby_also_across_the_meridian_of_greenwich) {
    std::vector<std::uint32_t> const one_each(k_bins, 1);
    WorldCurve const curve(k_columns, one_each);
    WorldCurve::Key before = curve.at(0);
    for (std::uint64_t position = 1; position < k_bins; ++position) {
        WorldCurve::Key const here = curve.at(position);
        int const across = std::abs(static_cast<int>(here.bin % k_columns) - static_cast<int>(before.bin % k_columns));
        int const up = std::abs(static_cast<int>(here.bin / k_columns) - static_cast<int>(before.bin / k_columns));
        EXPECT_LE(std::min(across, 360 - across) + up, 2) << "from bin " << before.bin << " to bin " << here.bin;
        before = here;
    }
}

TEST(WorldCurve, of_an_empty_world_is_empty) {
    std::vector<std::uint32_t> const none(k_bins, 0);
    EXPECT_EQ(WorldCurve(k_columns, none).blocks(), 0U);
}
