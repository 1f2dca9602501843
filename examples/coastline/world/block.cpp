// SPDX-License-Identifier: BSD-3-Clause
#include "block.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace coastline {

namespace {

constexpr std::size_t k_room = k_block_bytes - sizeof(BlockHead);

std::size_t offset_of_point(std::size_t number) {
    return sizeof(BlockHead) + number * sizeof(Point);
}
std::size_t offset_of_part(std::size_t number) {
    return k_block_bytes - (number + 1) * sizeof(Part);
}

}  // namespace

std::vector<std::vector<Part>> cut_into_blocks(std::span<Segment const> segments) {
    static_assert(k_room / sizeof(Point) <= std::numeric_limits<std::uint16_t>::max());
    std::vector<std::vector<Part>> blocks;
    std::size_t room = 0;
    for (Segment const& segment : segments) {
        for (std::uint32_t done = 0; done < segment.points;) {
            if (room < sizeof(Part) + sizeof(Point)) {
                blocks.emplace_back();
                room = k_room;
            }
            std::size_t const fitting = (room - sizeof(Part)) / sizeof(Point);
            auto const taken = static_cast<std::uint32_t>(std::min<std::size_t>(fitting, segment.points - done));
            blocks.back().push_back({segment.number, segment.first_point + done, static_cast<std::uint16_t>(taken),
                                     static_cast<std::uint16_t>(segment.level)});
            room -= sizeof(Part) + taken * sizeof(Point);
            done += taken;
        }
    }
    return blocks;
}

void fill(Block& block, std::uint32_t bin, std::uint32_t sequence, std::span<Part const> parts, CoastlineFile& file) {
    std::memset(block.bytes, 0, k_block_bytes);
    BlockHead head{bin, sequence, 0, 0};
    std::vector<Point> points;
    for (Part const& part : parts) {
        points.resize(part.points);
        file.read_points(bin, part.first_point, points);
        std::memcpy(block.bytes + offset_of_point(head.points), points.data(), points.size() * sizeof(Point));
        std::memcpy(block.bytes + offset_of_part(head.parts), &part, sizeof(Part));
        head.points += part.points;
        ++head.parts;
    }
    std::memcpy(block.bytes, &head, sizeof(head));
}

BlockHead head_of(std::span<std::byte const> block) {
    BlockHead head;
    std::memcpy(&head, block.data(), sizeof(head));
    return head;
}

Part part_of(Block const& block, std::uint32_t number) {
    Part part;
    std::memcpy(&part, block.bytes + offset_of_part(number), sizeof(part));
    return part;
}

Point point_of(Block const& block, std::uint32_t number) {
    Point point;
    std::memcpy(&point, block.bytes + offset_of_point(number), sizeof(point));
    return point;
}

}  // namespace coastline
