// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/moving/block_stream.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "engine/context_state.hpp"
#include "sluice/context.hpp"

namespace sluice::redistribution {
namespace {

/// Sends 10 blocks of 12 bytes and a spare one, with consecutive bytes, from every rank to the next in a ring.
void check_ring(std::vector<SlotRange> const& from, std::vector<SlotRange> const& into, std::uint64_t most_bytes) {
    Context context(MPI_COMM_WORLD);
    memory::Meter meter;
    RequestWindow window(2, meter);
    BlockStream incoming(engine::ContextState::of(context).comm(), into.size(), meter, most_bytes);
    BlockStream outgoing(engine::ContextState::of(context).comm(), from.size(), meter, most_bytes);
    std::vector<std::byte> mine(120), spare(12), got(120, std::byte{255}), got_spare(12, std::byte{255});
    for (std::size_t i = 0; i < 132; ++i)
        (i < 120 ? mine[i] : spare[i - 120]) = static_cast<std::byte>(i);

    Pairwise const ring{context.rank(), context.size()};
    incoming.open(ring.source(1 % ring.size), into, {got.data(), 10, 12, got_spare.data()});
    outgoing.open(ring.target(1 % ring.size), from, {mine.data(), 10, 12, spare.data()});
    post_alternating(incoming, outgoing, window);
    window.drain();
    EXPECT_LE(window.peak(), 2U);

    std::vector<std::byte> expected(132, std::byte{255});
    std::vector<std::size_t> sources;
    for (SlotRange const& range : from)
        for (std::uint64_t i = 0; i < range.count * 12; ++i)
            sources.push_back(range.first * 12 + i);
    std::size_t next = 0;
    for (SlotRange const& range : into)
        for (std::uint64_t i = 0; i < range.count * 12; ++i)
            expected[range.first * 12 + i] = static_cast<std::byte>(sources[next++]);
    got.insert(got.end(), got_spare.begin(), got_spare.end());
    EXPECT_EQ(got, expected);
}

TEST(BlockStream, sends_one_range_straight_from_and_into_the_slots) {
    check_ring({{2, 3}}, {{0, 3}}, 1 << 20);
}

TEST(BlockStream, gathers_several_ranges_into_one_message) {
    check_ring({{7, 2}, {0, 1}, {3, 2}}, {{1, 5}}, 1 << 20);
}

TEST(BlockStream, reaches_into_the_spare_slot_on_either_side) {
    check_ring({{8, 3}}, {{0, 3}}, 1 << 20);
    check_ring({{0, 3}}, {{8, 3}}, 1 << 20);
}

TEST(BlockStream, cuts_messages_at_the_same_places_however_the_blocks_lie) {
    for (std::uint64_t most_bytes : std::initializer_list<std::uint64_t>{1, 5, 7, 12, 13, 24, 31})
        check_ring({{9, 2}, {0, 2}}, {{3, 1}, {8, 3}}, most_bytes);
}

TEST(BlockStream, skips_empty_ranges) {
    check_ring({{0, 0}, {4, 1}, {6, 0}}, {{2, 0}, {5, 1}}, 1 << 20);
}

}  // namespace
}  // namespace sluice::redistribution
