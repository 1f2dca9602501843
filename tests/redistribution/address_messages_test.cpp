// SPDX-License-Identifier: BSD-3-Clause
/// Messages of the exchange of addresses: with any number of partners, and in whatever order the list names them, all
/// are full but the last to each partner. Rings need none.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/context_state.hpp"
#include "engine/sparse/sparse_packets.hpp"
#include "sluice/redistribute.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

constexpr std::uint64_t k_each = 130;  // blocks for each partner
constexpr int k_most_partners = 40;
constexpr Bytes k_small_staging = 128_KiB;  // 28 places for packets of 65 entries: 40 partners take two turns

/// Two numbers, as of an address that travels.
struct Entry {
    std::uint32_t slot;
    std::uint32_t block;
};

/// A block on its way from a rank to the one that is `distance` after it.
struct Block {
    std::uint64_t source;
    std::uint64_t distance;
    std::uint64_t number;
    bool operator==(Block const&) const = default;
};

class AddressMessages : public testing::TestWithParam<char const*> {
  protected:
    AddressMessages()
        : context_(MPI_COMM_WORLD, by(GetParam())),
          rank_(static_cast<std::uint64_t>(context_.rank())),
          ranks_(static_cast<std::uint64_t>(context_.size())),
          partners_(static_cast<std::uint64_t>(std::min(context_.size() - 1, k_most_partners))) {}

    static Settings by(char const* transport) {
        Settings settings;
        settings.set("transport", transport);
        return settings;
    }
    engine::ContextState& state() { return engine::ContextState::of(context_); }

    engine::SparsePackets<Entry> packets(Bytes staging) {
        Bytes const bytes = staging / 4;
        return {context_.size(), bytes - bytes / 9, state().meter()};
    }
    std::uint64_t entries_a_message(Bytes staging) { return packets(staging).most_items(); }
    static std::uint64_t messages_for(std::uint64_t entries, std::uint64_t entries_a_message) {
        return (entries + entries_a_message - 1) / entries_a_message;
    }
    std::uint64_t counted() { return state().counters().named("addresses.messages").value(); }

    /// Collective: moves the blocks, and returns the messages of this rank with addresses.
    std::uint64_t messages(std::vector<Block>& array, std::vector<Destination> const& to, Bytes staging) {
        RedistributeOptions const options{Strategy::token, staging};
        std::uint64_t const before = counted();
        RedistributionReport const report = redistribute(context_, blocks_of(array), to, options);
        auto const counter = std::ranges::find(report.counters, "addresses.messages", &CounterValue::name);
        EXPECT_NE(counter, report.counters.end());
        EXPECT_EQ(counter->value, counted() - before);
        return counter->value;
    }
    void expect(std::uint64_t messages, std::uint64_t must) {
        EXPECT_EQ(messages, state().node(k_small_staging / 4)->has_rings() ? 0 : must);
    }

    /// Each rank has blocks for the `partners_` ranks after it.
    std::vector<Block> blocks_for_partners() const {
        std::vector<Block> array;
        for (std::uint64_t number = 0; number < k_each; ++number)
            for (std::uint64_t distance = 1; distance <= partners_; ++distance)
                array.push_back({rank_, distance, number});
        return array;
    }
    std::vector<Destination> destinations_of(std::vector<Block> const& array) const {
        std::vector<Destination> to;
        for (Block const& block : array)
            to.push_back({static_cast<int>((rank_ + block.distance) % ranks_),
                          static_cast<std::int64_t>((block.distance - 1) * k_each + block.number)});
        return to;
    }

    /// Moves these blocks, which `order` puts into the order of the list.
    void expect_full_messages(Bytes staging, std::function<void(std::vector<Block>&)> const& order) {
        std::vector<Block> array = blocks_for_partners();
        order(array);
        std::vector<Destination> const to = destinations_of(array);
        std::uint64_t const most = entries_a_message(staging);
        ASSERT_GE(most, 64U);
        expect(messages(array, to, staging), partners_ * messages_for(k_each, most));
        for (std::uint64_t slot = 0; slot < array.size(); ++slot) {
            std::uint64_t const distance = slot / k_each + 1;
            ASSERT_EQ(array[slot], (Block{(rank_ + ranks_ - distance) % ranks_, distance, slot % k_each}));
        }
    }

    Context context_;
    std::uint64_t rank_;
    std::uint64_t ranks_;
    std::uint64_t partners_;
};

void shuffle(std::vector<Block>& blocks) {
    std::shuffle(blocks.begin(), blocks.end(), std::mt19937(static_cast<unsigned>(blocks.size())));
}

TEST_P(AddressMessages, are_full_if_partners_interleave) {
    expect_full_messages(k_small_staging, [](auto&) {});
}

TEST_P(AddressMessages, are_full_if_the_list_is_sorted) {
    expect_full_messages(k_small_staging, [](auto& blocks) { std::ranges::stable_sort(blocks, {}, &Block::distance); });
}

TEST_P(AddressMessages, are_full_if_the_list_is_reversed) {
    expect_full_messages(k_small_staging,
                         [](auto& blocks) { std::ranges::stable_sort(blocks, std::greater{}, &Block::distance); });
}

TEST_P(AddressMessages, are_full_in_random_order) {
    expect_full_messages(k_small_staging, shuffle);
    expect_full_messages(2_MiB, shuffle);
}

TEST_P(AddressMessages, of_a_plan_are_full) {
    std::vector<Block> array = blocks_for_partners();
    shuffle(array);
    std::uint64_t const before = counted();
    Plan const plan(context_, array.size(), destinations_of(array), {Strategy::token, k_small_staging});
    expect(counted() - before, partners_ * messages_for(k_each, entries_a_message(k_small_staging)));
}

TEST_P(AddressMessages, of_a_rule_that_names_no_rank_when_asked_again_are_an_error) {
    std::vector<Destination> const to = destinations_of(blocks_for_partners());
    std::vector<int> asked(to.size());
    auto const rule = [&](std::uint64_t block) {
        bool const is_wrong = asked[block]++ > 0 && block == to.size() - 1 && rank_ == ranks_ - 1;
        return is_wrong ? Destination{context_.size(), 0} : to[block];
    };
    auto const plan = [&] { Plan::computed(context_, to.size(), rule, {Strategy::token, k_small_staging}); };
    bool const has_turns =
        !state().node(k_small_staging / 4)->has_rings() && !packets(k_small_staging).has_place_for_all();
    if (has_turns)
        EXPECT_THROW(plan(), Error);
    else
        plan();
}

SLUICE_NEEDS_RANKS(2, AddressMessages, are_full_to_a_single_target);
TEST_P(AddressMessages, are_full_to_a_single_target) {
    constexpr std::uint64_t k_blocks = 2000;
    std::vector<Block> array(k_blocks);
    std::vector<Destination> to;
    for (std::uint64_t number = 0; number < k_blocks; ++number) {
        array[number] = {rank_, 1, number};
        to.push_back({static_cast<int>((rank_ + 1) % ranks_), static_cast<std::int64_t>(k_blocks - 1 - number)});
    }
    expect(messages(array, to, k_small_staging), messages_for(k_blocks, entries_a_message(k_small_staging)));
}

SLUICE_NEEDS_RANKS(2, AddressMessages, are_full_if_one_rank_is_the_target_of_all);
TEST_P(AddressMessages, are_full_if_one_rank_is_the_target_of_all) {
    std::vector<Block> array(rank_ == 0 ? k_each * ranks_ : k_each);
    std::vector<Destination> to;
    for (std::uint64_t number = 0; number < k_each; ++number) {
        array[number] = {rank_, 0, number};
        to.push_back({0, static_cast<std::int64_t>(number * ranks_ + rank_)});
    }
    std::uint64_t const must = rank_ == 0 ? 0 : messages_for(k_each, entries_a_message(k_small_staging));
    expect(messages(array, to, k_small_staging), must);
    if (rank_ != 0) return;
    for (std::uint64_t slot = 0; slot < array.size(); ++slot)
        ASSERT_EQ(array[slot], (Block{slot % ranks_, 0, slot / ranks_}));
}

INSTANTIATE_TEST_SUITE_P(Transports, AddressMessages, testing::Values("message", "ring"),
                         [](auto const& each) { return std::string(each.param); });

}  // namespace
}  // namespace sluice::tests
