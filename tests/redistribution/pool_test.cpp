// SPDX-License-Identifier: BSD-3-Clause
/// Form pool of strategy token: blocks go through places that the ranks of the node share, or all ranks of the node
/// take another form.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/context_state.hpp"
#include "redistribution/strategies/token/token_form.hpp"
#include "redistribution/strategies/token/token_memory.hpp"
#include "sluice/redistribute.hpp"
#include "support/guarded_array.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {

namespace {

using redistribution::ForcedTokenForm;
using redistribution::TokenForm;

/// A map, the same on all ranks: block i of all ranks goes to the slot with number to[i].
using Map = std::vector<std::uint64_t>;

class Pool : public testing::Test {
  protected:
    Pool() : context_(MPI_COMM_WORLD), rank_(context_.rank()), ranks_(context_.size()) {
        options_.strategy = Strategy::token;
    }

    /// Places of a call that is refused on one rank are refused to all of the node.
    node::ArrayMemory& memory() { return *engine::ContextState::of(context_).process().arrays(); }
    bool is_last() const { return rank_ == ranks_ - 1; }

    Map random_map(std::uint64_t slots, unsigned seed) const {
        Map to(slots * static_cast<std::uint64_t>(ranks_));
        std::iota(to.begin(), to.end(), 0);
        std::shuffle(to.begin(), to.end(), std::mt19937_64(seed));
        return to;
    }
    /// All blocks of a rank go to the next one, in the opposite order, and no slot is free.
    Map next_map(std::uint64_t slots) const {
        Map to;
        for (int rank = 0; rank < ranks_; ++rank)
            for (std::uint64_t slot = 0; slot < slots; ++slot)
                to.push_back(static_cast<std::uint64_t>((rank + 1) % ranks_) * slots + slots - 1 - slot);
        return to;
    }
    std::vector<Destination> destinations(Map const& to) const {
        std::uint64_t const slots = to.size() / static_cast<std::uint64_t>(ranks_);
        std::vector<Destination> mine;
        for (std::uint64_t slot = 0; slot < slots; ++slot) {
            std::uint64_t const there = to[static_cast<std::uint64_t>(rank_) * slots + slot];
            mine.push_back({static_cast<int>(there / slots), static_cast<std::int64_t>(there % slots)});
        }
        return mine;
    }
    void fill(GuardedArray& array, std::uint64_t name) const {
        for (std::uint64_t slot = 0; slot < array.count(); ++slot)
            array.fill(slot, static_cast<std::uint64_t>(rank_) * array.count() + slot, name);
    }
    void expect_moved(GuardedArray const& array, Map const& to, std::uint64_t name) const {
        std::uint64_t const slots = array.count();
        for (std::uint64_t from = 0; from < to.size(); ++from)
            if (to[from] / slots == static_cast<std::uint64_t>(rank_)) {
                ASSERT_TRUE(array.holds(to[from] % slots, from, name)) << "slot " << to[from] % slots;
            }
        EXPECT_TRUE(array.guards_are_whole());
    }
    /// Collective. Returns the blocks that went through places of this rank.
    std::uint64_t move(GuardedArray& array, Map const& to, std::uint64_t name = 0) {
        fill(array, name);
        RedistributionReport const report = redistribute(context_, array.blocks(), destinations(to), options_);
        expect_moved(array, to, name);
        return counter(report, "node.place_pieces");
    }
    static std::uint64_t counter(RedistributionReport const& report, std::string_view name) {
        for (CounterValue const& value : report.counters)
            if (value.name == name) return value.value;
        return 0;
    }
    std::uint64_t incoming(Map const& to, std::uint64_t slots) const {
        std::uint64_t count = 0;
        auto const me = static_cast<std::uint64_t>(rank_);
        for (std::uint64_t from = 0; from < to.size(); ++from)
            count += to[from] / slots == me && from / slots != me ? 1 : 0;
        return count;
    }

    Context context_;
    int rank_;
    int ranks_;
    RedistributeOptions options_;
};

}  // namespace

TEST_F(Pool, moves_each_block_through_one_place) {
    ForcedTokenForm const forced(TokenForm::pool);
    for (std::uint64_t const bytes : {std::uint64_t{1}, std::uint64_t{64}, std::uint64_t{1024}, std::uint64_t{16000}})
        for (unsigned seed = 0; seed < 3; ++seed) {
            constexpr std::uint64_t k_slots = 200;
            GuardedArray array(k_slots, bytes);
            Map const to = random_map(k_slots, seed);
            EXPECT_EQ(move(array, to), incoming(to, k_slots)) << bytes << " bytes";
        }
}

TEST_F(Pool, has_more_places_than_the_array_has_slots) {
    ForcedTokenForm const forced(TokenForm::pool);
    for (std::uint64_t const slots : {0U, 1U, 2U, 7U}) {
        options_.staging = 8_MiB;
        GuardedArray array(slots, 1024);
        EXPECT_EQ(move(array, next_map(slots)), ranks_ > 1 ? slots : 0);
    }
}

TEST_F(Pool, moves_large_blocks_in_pieces_through_few_places) {
    ForcedTokenForm const forced(TokenForm::pool);
    constexpr Bytes k_staging = 64_KiB;
    options_.staging = k_staging;
    constexpr std::uint64_t k_slots = 60;
    constexpr std::uint64_t k_bytes = 8 << 10;  // as large as a piece may be, so there are two or three places
    // The tables of many peers leave no room for places: then all take another form.
    bool const has_places =
        ranks_ > 1 && redistribution::TokenMemory::of(k_staging, k_bytes, ranks_, ranks_, true).places >= 2;
    EXPECT_TRUE(has_places || ranks_ == 1 || ranks_ > 8);
    GuardedArray array(k_slots, k_bytes);
    for (int round = 0; round < 4; ++round)
        EXPECT_EQ(move(array, next_map(k_slots)), has_places ? k_slots : 0);
    GuardedArray larger(k_slots, 3 * k_bytes + 1);
    for (unsigned seed = 0; seed < 3; ++seed) {
        Map const to = random_map(k_slots, seed);
        EXPECT_EQ(move(larger, to), has_places ? 4 * incoming(to, k_slots) : 0);
    }
}

TEST_F(Pool, is_taken_for_middle_blocks_if_ranks_share_processors) {
    bool const is_crowded = engine::ContextState::of(context_).node(2_MiB / 4)->is_crowded();
    struct Case {
        std::uint64_t bytes;
        std::uint64_t slots;
        bool pays;
    };
    for (Case const& drawn : {Case{1024, 4096, true}, Case{16000, 300, true}, Case{1024, 100, false},
                              Case{512, 10000, false}, Case{20000, 300, false}}) {
        GuardedArray array(drawn.slots, drawn.bytes);
        std::uint64_t const expected = is_crowded && drawn.pays ? drawn.slots : 0;
        EXPECT_EQ(move(array, next_map(drawn.slots)), expected) << drawn.bytes << " bytes";
    }
}

TEST_F(Pool, is_not_taken_if_the_settings_want_rings_or_messages) {
    ForcedTokenForm const forced(TokenForm::pool);
    for (Transport const transport : {Transport::ring, Transport::message}) {
        Settings settings;
        settings.transport = transport;
        Context context(MPI_COMM_WORLD, settings);
        GuardedArray array(50, 1024);
        Map const to = next_map(50);
        fill(array, 0);
        EXPECT_EQ(counter(redistribute(context, array.blocks(), destinations(to), options_), "node.place_pieces"), 0U);
        expect_moved(array, to, 0);
    }
}

SLUICE_NEEDS_RANKS(2, Pool, gives_way_on_all_ranks_if_one_has_no_shared_memory);
TEST_F(Pool, gives_way_on_all_ranks_if_one_has_no_shared_memory) {
    ForcedTokenForm const forced(TokenForm::pool);
    GuardedArray array(300, 1024);
    Map const to = random_map(300, 1);
    if (is_last()) memory().fail_shared(1);
    EXPECT_EQ(move(array, to), 0U);
    EXPECT_EQ(move(array, to), incoming(to, 300));
    if (is_last()) memory().fail_of_peers(1);
    EXPECT_EQ(move(array, to), 0U);
    EXPECT_EQ(move(array, to), incoming(to, 300));
}

TEST_F(Pool, gives_its_memory_back) {
    ForcedTokenForm const forced(TokenForm::pool);
    GuardedArray array(300, 1024);
    Map const to = next_map(300);
    move(array, to);
    memory::Meter const& meter = engine::ContextState::of(context_).meter();
    Bytes const held = meter.held();
    std::uint64_t const of_peers = memory().bytes_of_peers();
    for (int round = 0; round < 5; ++round) {
        move(array, to);
        EXPECT_EQ(meter.held(), held);
        EXPECT_EQ(memory().bytes_of_peers(), of_peers);
    }
}

/// Each plan has places of its own, whose answers are counted from one call to the next.
TEST_F(Pool, serves_plans_in_turns) {
    ForcedTokenForm const forced(TokenForm::pool);
    constexpr std::uint64_t k_slots = 150;
    Map const to = random_map(k_slots, 4);
    Map const other = next_map(k_slots);
    Plan first(context_, k_slots, destinations(to), options_);
    Plan second(context_, k_slots, destinations(other), options_);
    GuardedArray small(k_slots, 700);
    GuardedArray large(k_slots, 9000);
    for (int round = 0; round < 4; ++round) {
        fill(small, 0);
        fill(large, 1);
        std::array<Blocks, 2> const both{small.blocks(), large.blocks()};
        EXPECT_EQ(counter(first.apply(both), "node.place_pieces"), 2 * incoming(to, k_slots));
        expect_moved(small, to, 0);
        expect_moved(large, to, 1);
        fill(small, 2);
        EXPECT_EQ(counter(second.apply(small.blocks()), "node.place_pieces"), incoming(other, k_slots));
        expect_moved(small, other, 2);
    }
}

TEST_F(Pool, moves_alternately_with_other_forms) {
    GuardedArray array(250, 1500);
    for (unsigned round = 0; round < 12; ++round) {
        constexpr std::optional<TokenForm> k_forms[] = {TokenForm::pool, TokenForm::chain, std::nullopt};
        ForcedTokenForm const forced(k_forms[round % 3]);
        Map const to = random_map(250, round);
        EXPECT_EQ(move(array, to, round), round % 3 == 0 ? incoming(to, 250) : 0);
    }
}

}  // namespace sluice::tests
