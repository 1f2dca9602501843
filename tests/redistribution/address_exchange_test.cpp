// SPDX-License-Identifier: BSD-3-Clause
/// The exchange of addresses by itself: both maps, whatever the width of the entries and however they travel, and what
/// it refuses.
#include "redistribution/address_exchange.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/context_state.hpp"

namespace sluice::redistribution {
namespace {

using engine::ContextState;

constexpr std::uint64_t k_short = 3000;                   // slots: entries of 32 bits
constexpr std::uint64_t k_long = std::uint64_t{1} << 33;  // entries of 64 bits

/// Where the exchange is told that the largest array ends, and whether the ranks of a node have rings.
struct Way {
    std::uint64_t most_slots;
    bool has_rings;
};

class AddressExchange : public testing::TestWithParam<Way> {
  protected:
    ContextState& state() { return ContextState::of(context_); }

    /// Collective. `inverse` may be null.
    AddressCounts exchange(std::vector<Destination> const& to, AddressMap* inverse, AddressMap* forward) {
        std::shared_ptr<node::Node> const node = GetParam().has_rings ? state().node(256_KiB) : nullptr;
        auto const destinations = [&](std::uint64_t first, std::span<Destination> room) {
            return std::span<Destination const>(to).subspan(first, room.size());
        };
        AddressCounts const counts = exchange_addresses(state(), node.get(), to.size(), GetParam().most_slots,
                                                        destinations, inverse, forward, 256_KiB);
        MPI_Barrier(MPI_COMM_WORLD);
        return counts;
    }
    AddressMap map(std::uint64_t slots) { return {slots, context_.size(), GetParam().most_slots, state().meter()}; }

    /// Expects that all ranks refuse that the last one sends a block there.
    void expect_refused(Destination const& wrong, std::string const& says) {
        for (bool const inverts : {false, true}) {
            std::vector<Destination> to(2, free_block);
            if (context_.rank() == context_.size() - 1) to[0] = wrong;
            AddressMap inverse = map(2);
            AddressMap forward = map(2);
            try {
                exchange(to, inverts ? &inverse : nullptr, &forward);
                ADD_FAILURE() << "not refused";
            } catch (Error const& error) {
                EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
                std::string const text = error.what();
                EXPECT_NE(text.find("index " + std::to_string(wrong.index) + ": " + says), std::string::npos) << text;
            }
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }

    Context context_{MPI_COMM_WORLD};
};

TEST_P(AddressExchange, fills_both_maps) {
    int const ranks = context_.size();
    auto const rank = static_cast<std::size_t>(context_.rank());
    std::mt19937_64 random(11);
    std::vector<std::vector<Destination>> to(static_cast<std::size_t>(ranks));
    std::vector<Destination> targets;
    for (std::size_t each = 0; each < to.size(); ++each) {
        to[each].assign(k_short - 7 * each, free_block);
        for (std::size_t slot = 0; slot < to[each].size(); ++slot)
            targets.push_back({static_cast<int>(each), static_cast<std::int64_t>(slot)});
    }
    std::shuffle(targets.begin(), targets.end(), random);
    std::vector<Destination> from(to[rank].size(), free_block);
    AddressCounts expected;
    for (std::size_t each = 0; each < to.size(); ++each)
        for (std::size_t slot = 0; slot < to[each].size(); ++slot) {
            Destination const target = targets.back();
            targets.pop_back();
            if (random() % 8 == 0) continue;
            to[each][slot] = target;
            bool const leaves = target.rank != static_cast<int>(each);
            if (target.rank == context_.rank()) {
                from[static_cast<std::size_t>(target.index)] = {static_cast<int>(each),
                                                                static_cast<std::int64_t>(slot)};
                ++(leaves ? expected.incoming : expected.staying);
            }
            if (each == rank && leaves) ++expected.outgoing;
        }

    AddressMap inverse = map(from.size());
    AddressMap forward = map(from.size());
    AddressCounts const counts = exchange(to[rank], &inverse, &forward);
    EXPECT_EQ(counts.incoming, expected.incoming);
    EXPECT_EQ(counts.outgoing, expected.outgoing);
    EXPECT_EQ(counts.staying, expected.staying);
    for (std::size_t slot = 0; slot < from.size(); ++slot) {
        ASSERT_EQ(inverse[slot], from[slot]) << slot;
        ASSERT_EQ(inverse.mark(slot), to[rank][slot].rank >= 0) << slot;
        ASSERT_EQ(forward[slot], to[rank][slot]) << slot;
        ASSERT_FALSE(forward.mark(slot)) << slot;
    }
    AddressMap alone = map(from.size());
    EXPECT_EQ(exchange(to[rank], nullptr, &alone).incoming, expected.incoming);
    for (std::size_t slot = 0; slot < from.size(); ++slot)
        ASSERT_EQ(alone[slot], to[rank][slot]) << slot;
}

TEST_P(AddressExchange, refuses_addresses_that_cannot_be) {
    for (std::int64_t const slot : {2, 3000, 5000})  // the largest array may have 3000
        expect_refused({0, slot}, "that rank has 2 slots");
    expect_refused({0, -1}, "indices start at 0");
    expect_refused({context_.size(), 0}, "there are " + std::to_string(context_.size()) + " ranks");
    constexpr std::int64_t k_as_slot_1 = (std::int64_t{1} << 32) + 1;  // of which 32 bits would be slot 1
    expect_refused({0, k_as_slot_1},
                   GetParam().most_slots == k_long ? "that rank has 2 slots" : "no rank has more than");
}

TEST_P(AddressExchange, refuses_two_blocks_for_one_slot) {
    for (bool const inverts : {false, true}) {
        std::vector<Destination> to(2, free_block);
        if (context_.rank() == context_.size() - 1) to.assign(2, {0, 1});
        AddressMap inverse = map(2);
        AddressMap forward = map(2);
        EXPECT_THROW(exchange(to, inverts ? &inverse : nullptr, &forward), Error);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

INSTANTIATE_TEST_SUITE_P(Ways, AddressExchange,
                         testing::Values(Way{k_short, true}, Way{k_short, false}, Way{k_long, true},
                                         Way{k_long, false}),
                         [](auto const& each) {
                             return std::string(each.param.most_slots == k_short ? "short_" : "long_") +
                                    (each.param.has_rings ? "ring" : "message");
                         });

}  // namespace
}  // namespace sluice::redistribution
