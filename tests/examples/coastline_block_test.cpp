// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "world/block.hpp"
#include "world/coastline_file.hpp"
#include "world/world_blocks.hpp"

using coastline::Block;
using coastline::Part;
using coastline::Segment;

namespace {

std::vector<Segment> segments_of_lengths(std::vector<std::uint32_t> const& lengths) {
    std::vector<Segment> segments;
    std::uint32_t next_point = 1000;
    for (std::uint32_t const length : lengths) {
        segments.push_back({static_cast<std::uint32_t>(segments.size()), next_point, length, 1});
        next_point += length;
    }
    return segments;
}

std::size_t bytes_of(std::vector<Part> const& parts) {
    std::size_t bytes = sizeof(coastline::BlockHead);
    for (Part const& part : parts)
        bytes += sizeof(Part) + part.points * sizeof(coastline::Point);
    return bytes;
}

}  // namespace

TEST(CoastlineBlock, cutting_keeps_every_point_once_and_in_order) {
    for (std::vector<std::uint32_t> const& lengths : std::vector<std::vector<std::uint32_t>>{
             {}, {1}, {253}, {254}, {255}, {2, 2, 2}, {251, 2, 3}, {10000}, {11, 4000, 1, 250, 250, 2}, {0, 5, 0}}) {
        auto const segments = segments_of_lengths(lengths);
        std::vector<std::uint32_t> seen;
        for (auto const& parts : coastline::cut_into_blocks(segments)) {
            EXPECT_LE(bytes_of(parts), coastline::k_block_bytes);
            EXPECT_FALSE(parts.empty());
            for (Part const& part : parts) {
                EXPECT_GT(part.points, 0);
                for (std::uint32_t i = 0; i < part.points; ++i)
                    seen.push_back(part.first_point + i);
            }
        }
        std::vector<std::uint32_t> expected;
        for (Segment const& segment : segments) {
            for (std::uint32_t i = 0; i < segment.points; ++i)
                expected.push_back(segment.first_point + i);
        }
        EXPECT_EQ(seen, expected);
    }
}

TEST(CoastlineBlock, starts_no_new_block_while_another_point_fits) {
    std::vector<std::uint32_t> const lengths(500, 11);
    auto const blocks = coastline::cut_into_blocks(segments_of_lengths(lengths));
    for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
        EXPECT_GT(bytes_of(blocks[i]) + sizeof(Part) + sizeof(coastline::Point), coastline::k_block_bytes);
    }
}

/// The data of the real job: finds the first bin with more than two blocks.
class CoastlineData : public testing::Test {
  protected:
    void SetUp() override {
        std::string const path = coastline::installed_coastline_file();
        if (path.empty()) GTEST_SKIP() << "binned_GSHHS_f.nc (gmt-gshhg-full) is not installed";
        file_ = std::make_unique<coastline::CoastlineFile>(path);
        while (coastline::cut_into_blocks(file_->segments_of(bin_)).size() < 3)
            ++bin_;
    }
    std::unique_ptr<coastline::CoastlineFile> file_;
    std::uint32_t bin_ = 0;
};

TEST_F(CoastlineData, a_filled_block_gives_back_what_the_file_holds) {
    std::uint32_t sequence = 0;
    for (auto const& parts : coastline::cut_into_blocks(file_->segments_of(bin_))) {
        Block block;
        coastline::fill(block, bin_, sequence, parts, *file_);
        coastline::BlockHead const head = coastline::head_of(block.bytes);
        EXPECT_EQ(head.bin, bin_);
        EXPECT_EQ(head.sequence, sequence++);
        ASSERT_EQ(head.parts, parts.size());
        std::uint32_t number = 0;
        for (std::uint32_t i = 0; i < head.parts; ++i) {
            Part const part = coastline::part_of(block, i);
            EXPECT_EQ(std::memcmp(&part, &parts[i], sizeof(Part)), 0);
            std::vector<coastline::Point> points(part.points);
            file_->read_points(bin_, part.first_point, points);
            for (coastline::Point const& point : points) {
                coastline::Point const found = coastline::point_of(block, number++);
                EXPECT_EQ(found.longitude, point.longitude);
                EXPECT_EQ(found.latitude, point.latitude);
            }
        }
        EXPECT_EQ(head.points, number);
    }
}

TEST_F(CoastlineData, every_point_lies_in_its_bin) {
    std::uint32_t const row = bin_ / 360;
    for (Segment const& segment : file_->segments_of(bin_)) {
        std::vector<coastline::Point> points(segment.points);
        file_->read_points(bin_, segment.first_point, points);
        for (coastline::Point const& point : points) {
            EXPECT_GE(point.longitude, bin_ % 360);
            EXPECT_LE(point.longitude, bin_ % 360 + 1);
            EXPECT_GE(point.latitude, 90.0 - (row + 1));
            EXPECT_LE(point.latitude, 90.0 - row);
        }
    }
}

TEST_F(CoastlineData, the_check_passes_what_is_right_and_finds_one_bit_that_is_wrong) {
    std::vector<std::uint32_t> blocks_of_bin(file_->bins());
    auto const cut = coastline::cut_into_blocks(file_->segments_of(bin_));
    blocks_of_bin[bin_] = static_cast<std::uint32_t>(cut.size());
    coastline::WorldCurve const curve(file_->columns(), blocks_of_bin);
    std::vector<Block> blocks(cut.size() + 1);
    coastline::read_share(*file_, blocks_of_bin, 0, blocks);
    EXPECT_EQ(coastline::check_part(*file_, curve, 0, blocks).blocks, cut.size());

    blocks[1].bytes[100] ^= std::byte{1};
    EXPECT_THROW(coastline::check_part(*file_, curve, 0, blocks), std::runtime_error);
    blocks[1].bytes[100] ^= std::byte{1};
    std::swap(blocks[0], blocks[2]);
    EXPECT_THROW(coastline::check_part(*file_, curve, 0, blocks), std::runtime_error);
}

TEST_F(CoastlineData, a_point_after_the_last_is_refused) {
    std::vector<coastline::Point> points(2);
    EXPECT_THROW(file_->read_points(bin_, static_cast<std::uint32_t>(file_->points() - 1), points), std::runtime_error);
}
