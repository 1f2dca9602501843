// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/flood/windows.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::plugin {
namespace {

struct NoMark {};
using Table = SendWindows<NoMark>;
constexpr std::uint64_t k_share = 64 << 10;

/// Sends a message; counts marks as flood control does.
bool send(Table& table, int rank, std::uint64_t bytes) {
    auto& window = table.of(rank);
    if (!window.sends(bytes)) return false;
    window.since_mark = 0;
    return true;
}

TEST(SendWindows, of_one_receiver_mark_every_spacing) {
    Table table(k_share);
    table.of(3).spacing = k_share / 2;
    std::uint64_t since = 0;
    std::uint64_t most = 0;
    for (int i = 0; i < 10000; ++i) {
        since += memory_of_message(1000);
        most = std::max(most, since);
        if (send(table, 3, 1000)) since = 0;
    }
    EXPECT_LE(most, k_share / 2 + memory_of_message(1000));
    EXPECT_GE(most, k_share / 2);
}

TEST(SendWindows, counts_empty_messages) {
    Table table(k_share);
    int marks = 0;
    for (int i = 0; i < 1000; ++i)
        marks += send(table, 0, 0) ? 1 : 0;
    EXPECT_EQ(marks, static_cast<int>(1000 / (Table::k_least_spacing / memory_of_message(0))));
}

TEST(SendWindows, widen_up_to_half_of_the_share_and_narrow_to_the_least) {
    Table table(k_share);
    auto& window = table.of(1);
    EXPECT_EQ(window.spacing, Table::k_least_spacing);
    for (int i = 0; i < 10; ++i)
        table.widen(window);
    EXPECT_EQ(window.spacing, k_share / 2);
    for (int i = 0; i < 10; ++i)
        table.narrow(window);
    EXPECT_EQ(window.spacing, Table::k_least_spacing);
}

TEST(SendWindows, hold_bursts_to_silent_receivers_ever_less_often_until_one_is_matched) {
    Table table(k_share);
    auto& window = table.of(1);
    int held = 0;
    for (int burst = 0; burst < 10000; ++burst)
        if (window.holds_burst()) {
            ++held;
            window.was_silent_in_burst();
        }
    EXPECT_GE(held, 5);
    EXPECT_LE(held, 14);
    while (window.silent_bursts > 0)
        window.was_matched_in_burst();
    window.bursts_let_go = 0;
    for (int burst = 0; burst < 100; ++burst) {
        EXPECT_TRUE(window.holds_burst());
        window.was_matched_in_burst();
    }
}

/// The receiver had few bytes before the mark: it may have more. It had many: from many senders.
TEST(SendWindows, follow_what_the_receiver_had_before_the_mark) {
    Table table(k_share);
    auto& window = table.of(1);
    for (int i = 0; i < 10; ++i)
        table.adapt(window, k_share / 2 / 256, 256);
    EXPECT_EQ(window.spacing, k_share / 2);
    table.adapt(window, k_share / 256, 256);
    EXPECT_EQ(window.spacing, k_share / 2);
    for (int i = 0; i < 10; ++i)
        table.adapt(window, 2 * k_share / 256, 256);
    EXPECT_EQ(window.spacing, Table::k_least_spacing);
}

TEST(SendWindows, forget_silences_when_they_are_matched) {
    Table table(k_share);
    auto& window = table.of(1);
    for (int i = 0; i < 5; ++i)
        window.was_silent();
    EXPECT_EQ(window.silences(), 5);
    window.was_matched();
    EXPECT_EQ(window.silences(), 1);
    for (int i = 0; i < 4; ++i)
        window.was_matched();
    EXPECT_EQ(window.silences(), 0);
    window.was_silent();
    EXPECT_EQ(window.silences(), 1);
}

/// A minute of holds of a second lets go about a share.
TEST(SendWindows, let_less_go_each_time) {
    Table table(k_share);
    auto& window = table.of(1);
    std::uint64_t let_go = 0;
    for (int i = 0; i < 60; ++i) {
        let_go += window.spacing;
        table.let_go(window);
    }
    EXPECT_EQ(window.spacing, Table::k_let_go);
    EXPECT_LE(let_go, 60 * Table::k_let_go + 2 * Table::k_least_spacing);
    table.narrow(window);
    EXPECT_EQ(window.spacing, Table::k_let_go);
    table.widen(window);
    EXPECT_EQ(window.spacing, 2 * Table::k_let_go);
}

TEST(SendWindows, of_a_small_share_are_half_of_it) {
    Table table(4096);
    auto& window = table.of(1);
    EXPECT_EQ(window.spacing, 2048u);
    table.widen(window);
    EXPECT_EQ(window.spacing, 2048u);
}

TEST(SendWindows, forget_no_receiver_while_there_is_room) {
    Table table(k_share);
    std::uint32_t const ranks = Table::k_sets * Table::k_ways;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        table.of(static_cast<int>(rank)).since_mark = rank + 1;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        ASSERT_EQ(table.of(static_cast<int>(rank)).since_mark, rank + 1);
}

/// 64 times as many receivers as the table has, in turn: each message finds its window gone.
TEST(SendWindows, mark_as_often_with_more_receivers_than_there_is_room_for) {
    Table table(k_share);
    int const ranks = 64 * static_cast<int>(Table::k_sets * Table::k_ways);
    std::vector<std::uint64_t> since(static_cast<std::size_t>(ranks));
    std::uint64_t sent = 0;
    std::uint64_t marks = 0;
    std::uint64_t on_their_way = 0;
    for (int round = 0; round < 60; ++round) {
        for (int rank = 0; rank < ranks; ++rank) {
            auto& its = since[static_cast<std::size_t>(rank)];
            sent += memory_of_message(1000);
            its += memory_of_message(1000);
            if (send(table, rank, 1000)) {
                ++marks;
                its = 0;
            }
        }
    }
    for (std::uint64_t const its : since)
        on_their_way += its;
    EXPECT_GE(marks * Table::k_least_spacing, sent * 9 / 10);
    EXPECT_LE(marks * Table::k_least_spacing, sent * 11 / 10);
    EXPECT_LE(on_their_way / static_cast<std::uint64_t>(ranks), Table::k_least_spacing * 11 / 10);
}

}  // namespace
}  // namespace sluice::plugin
