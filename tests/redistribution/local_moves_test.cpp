// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/local_moves.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace sluice::redistribution {
namespace {

/// Slots of three letters each, and the room that cycles need.
struct Letters {
    explicit Letters(std::string text) : bytes(std::move(text)) {}
    BlockArray blocks() { return {reinterpret_cast<std::byte*>(bytes.data()), bytes.size() / 3, 3}; }
    std::string bytes;
    std::array<std::byte, 3> room{};
};

TEST(LocalMoves, makes_a_chain_from_its_open_end_with_one_copy_a_block) {
    memory::Meter meter;
    Letters letters("aaabbbccc...");
    LocalMoves moves(4, meter);
    moves.add(1, 3);
    moves.add(0, 1);
    EXPECT_EQ(moves.apply(letters.blocks(), letters.room.data(), [](std::uint64_t, std::uint64_t) {}), 2U);
    EXPECT_EQ(letters.bytes.substr(3), "aaacccbbb");
}

TEST(LocalMoves, makes_a_cycle_with_one_copy_more_than_blocks) {
    memory::Meter meter;
    Letters letters("aaabbbccc");
    LocalMoves moves(3, meter);
    moves.add(0, 1);
    moves.add(1, 2);
    moves.add(2, 0);
    EXPECT_EQ(moves.apply(letters.blocks(), letters.room.data(), [](std::uint64_t, std::uint64_t) {}), 4U);
    EXPECT_EQ(letters.bytes, "cccaaabbb");
}

TEST(LocalMoves, tells_where_each_block_went_so_that_labels_can_follow) {
    memory::Meter meter;
    Letters letters("aaabbbccc...");
    LocalMoves moves(4, meter);
    moves.add(0, 1);
    moves.add(1, 0);
    moves.add(2, 3);
    std::string labels = "ABC.";
    char in_room = ' ';
    auto const label = [&](std::uint64_t slot) -> char& {
        return slot == LocalMoves::k_room ? in_room : labels[static_cast<std::size_t>(slot)];
    };
    moves.apply(letters.blocks(), letters.room.data(),
                [&](std::uint64_t from, std::uint64_t to) { label(to) = label(from); });
    EXPECT_EQ(letters.bytes.substr(0, 6), "bbbaaa");
    EXPECT_EQ(letters.bytes.substr(9), "ccc");
    EXPECT_EQ(labels.substr(0, 2), "BA");
    EXPECT_EQ(labels[3], 'C');
}

TEST(LocalMoves, forgets_what_it_made) {
    memory::Meter meter;
    Letters letters("aaa...");
    LocalMoves moves(2, meter);
    moves.add(0, 1);
    EXPECT_FALSE(moves.empty());
    moves.apply(letters.blocks(), letters.room.data(), [](std::uint64_t, std::uint64_t) {});
    EXPECT_TRUE(moves.empty());
    moves.add(1, 0);
    EXPECT_EQ(moves.apply(letters.blocks(), letters.room.data(), [](std::uint64_t, std::uint64_t) {}), 1U);
    EXPECT_EQ(letters.bytes.substr(0, 3), "aaa");
}

}  // namespace
}  // namespace sluice::redistribution
