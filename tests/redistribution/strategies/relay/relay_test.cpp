// SPDX-License-Identifier: BSD-3-Clause
/// The relay moves every block of every kind of map to its slot, also with one credit and rings of one packet; small
/// blocks inside a node take it.
#include "redistribution/strategies/relay/relay.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/context_state.hpp"
#include "sluice/context.hpp"
#include "sluice/redistribute.hpp"
#include "support/guarded_array.hpp"

namespace sluice::redistribution {
namespace {

enum class Kind { random, next, transpose, hotspot, skewed, staying };
constexpr std::array k_kinds{Kind::random, Kind::next, Kind::transpose, Kind::hotspot, Kind::skewed, Kind::staying};

/// All slots of all ranks are numbered through; the same on all ranks.
struct Map {
    std::vector<std::uint64_t> first;  ///< first slot of each rank, and the number of all slots
    std::vector<std::int64_t> to;      ///< where the block of each slot goes; −1: the slot is free

    std::uint64_t slots(int rank) const {
        return first[static_cast<std::size_t>(rank) + 1] - first[static_cast<std::size_t>(rank)];
    }
    Destination address(std::uint64_t slot) const {
        auto const after = std::upper_bound(first.begin(), first.end(), slot);
        auto const rank = static_cast<std::size_t>(after - first.begin()) - 1;
        return {static_cast<int>(rank), static_cast<std::int64_t>(slot - first[rank])};
    }
};

std::vector<std::uint64_t> sizes_of(Kind kind, std::size_t ranks, std::uint64_t each) {
    std::vector<std::uint64_t> sizes(ranks, each);
    if (kind == Kind::hotspot) sizes[0] *= ranks;
    for (std::size_t rank = 0; kind == Kind::skewed && rank < ranks; ++rank)
        sizes[rank] = each * rank;  // rank 0 has no slot
    return sizes;
}

/// `free`: of a hundred slots.
Map make_map(Kind kind, int ranks, std::uint64_t each, unsigned free, unsigned seed) {
    Map map;
    map.first.push_back(0);
    for (std::uint64_t const size : sizes_of(kind, static_cast<std::size_t>(ranks), each))
        map.first.push_back(map.first.back() + size);
    std::uint64_t const all = map.first.back();
    std::mt19937_64 random(seed);
    std::vector<std::int64_t> targets(all);
    for (std::uint64_t slot = 0; slot < all; ++slot) {
        std::uint64_t target = slot;
        if (kind == Kind::next) target = (slot + each) % all;
        if (kind == Kind::transpose)
            target = slot % static_cast<std::uint64_t>(ranks) * each + slot / static_cast<std::uint64_t>(ranks);
        targets[slot] = static_cast<std::int64_t>(target);
    }
    if (kind == Kind::random || kind == Kind::skewed) std::shuffle(targets.begin(), targets.end(), random);
    // The last ranks' blocks all go to rank 0.
    if (kind == Kind::hotspot) std::reverse(targets.begin(), targets.end());
    for (std::uint64_t swaps = 0; kind == Kind::staying && swaps < all / 50; ++swaps)
        std::swap(targets[random() % all], targets[random() % all]);
    map.to = targets;
    for (std::uint64_t slot = 0; slot < all; ++slot)
        if (random() % 100 < free) map.to[slot] = -1;
    return map;
}

/// Moves by one relay, one map after the other, so that what a move leaves behind would show in the next.
class Runs {
  public:
    Runs(Context& context, std::shared_ptr<node::Node> node, std::uint64_t block_bytes, std::uint32_t credits)
        : context_(context), node_(std::move(node)), bytes_(block_bytes), relay_(*node_, bytes_, credits, meter_) {}

    void move(Map const& map) {
        int const rank = context_.rank();
        std::uint64_t const slots = map.slots(rank);
        std::uint64_t const first = map.first[static_cast<std::size_t>(rank)];
        AddressMap addresses(slots, context_.size(), map.first.back(), meter_);
        tests::GuardedArray array(slots, bytes_);
        std::uint64_t live = 0;
        for (std::uint64_t slot = 0; slot < slots; ++slot) {
            std::int64_t const to = map.to[first + slot];
            if (to < 0) continue;
            ++live;
            addresses.set(slot, map.address(static_cast<std::uint64_t>(to)));
            array.fill(slot, first + slot, 0);
        }
        std::vector<std::pair<std::uint64_t, std::uint64_t>> wanted;  // slot, block
        std::uint64_t local = 0;
        for (std::uint64_t block = 0; block < map.to.size(); ++block) {
            if (map.to[block] < 0) continue;
            Destination const to = map.address(static_cast<std::uint64_t>(map.to[block]));
            if (to.rank != rank) continue;
            wanted.emplace_back(to.index, block);
            local += map.address(block).rank == rank && map.to[block] != static_cast<std::int64_t>(block) ? 1 : 0;
        }
        node_->rings().barrier();
        relay_.run(array.data(), addresses, live, wanted.size());
        EXPECT_TRUE(array.guards_are_whole());
        for (auto const& [slot, block] : wanted)
            ASSERT_TRUE(array.holds(slot, block, 0)) << "slot " << slot << " does not hold block " << block;
        EXPECT_EQ(relay_.take_blocks_copied(), local);  // each once
        for (int peer = 0; peer < node_->size(); ++peer)
            EXPECT_TRUE(peer == node_->rank() || !node_->rings().peek(peer)) << "a packet was left behind";
        node_->rings().barrier();
    }

  private:
    Context& context_;
    std::shared_ptr<node::Node> node_;
    std::uint64_t bytes_;
    memory::Meter meter_;
    Relay relay_;
};

class RelayOf : public testing::Test {
  protected:
    explicit RelayOf(Settings const& settings = {}) : context_(MPI_COMM_WORLD, settings) {}

    /// Null without rings.
    std::shared_ptr<node::Node> node_with(Bytes rings) {
        std::shared_ptr<node::Node> node = engine::ContextState::of(context_).node(rings);
        if (!node->has_rings() || node->size() < context_.size()) return nullptr;
        return node;
    }
    void move_all(Bytes rings, std::uint32_t credits, std::uint64_t each) {
        std::shared_ptr<node::Node> const node = node_with(rings);
        if (!node) GTEST_SKIP() << "the ranks have no rings";
        unsigned seed = 0;
        for (std::uint64_t const bytes : {64U, 1U, 16U, 100U, 255U}) {
            Runs runs(context_, node, bytes, credits);
            for (Kind const kind : k_kinds)
                for (unsigned const free : {0U, 30U, 97U}) {
                    runs.move(make_map(kind, context_.size(), each, free, ++seed));
                    ASSERT_FALSE(HasFailure()) << "kind " << static_cast<int>(kind) << ", " << free
                                               << " % free, blocks of " << bytes << " bytes";
                }
        }
    }

    Context context_;
};

TEST_F(RelayOf, one_credit_a_rank_moves_every_block_through_rings_of_one_packet) {
    move_all(1_KiB, 1, 60);
}

TEST_F(RelayOf, a_few_credits_moves_every_block_through_rings_of_one_packet) {
    move_all(1_KiB, 5, 150);
}

// The stores take what the rings do not.
TEST_F(RelayOf, more_credits_than_the_rings_have_room_for_moves_every_block) {
    move_all(1_KiB, 300, 300);
}

TEST_F(RelayOf, many_credits_moves_every_block) {
    move_all(512_KiB, 700, 2000);
}

TEST_F(RelayOf, credits_fit_into_the_memory_that_they_are_asked_for) {
    std::shared_ptr<node::Node> const node = node_with(512_KiB);
    if (!node) GTEST_SKIP() << "the ranks have no rings";
    for (std::uint64_t const kibibytes : {2U, 16U, 1024U})
        for (std::uint64_t const bytes : {1U, 64U, 255U}) {
            Bytes const memory = 1_KiB * kibibytes;
            std::uint32_t const credits = Relay::credits_for(*node, memory, bytes, 1'000'000);
            if (credits == 0) continue;
            memory::Meter meter;
            Relay const relay(*node, bytes, credits, meter);
            EXPECT_LE(meter.held(), memory) << credits << " credits for blocks of " << bytes;
        }
    EXPECT_GT(Relay::credits_for(*node, 64_KiB, 255, 1'000'000), 0U);
    EXPECT_EQ(Relay::credits_for(*node, 8_B, 64, 1'000'000), 0U);
    EXPECT_EQ(Relay::credits_for(*node, 1_MiB, 64, 3), 3U);  // no rank has more blocks to start with
}

/// Whether a step of that name was made.
bool has_step(RedistributionReport const& report, std::string_view name) {
    return std::ranges::any_of(report.steps, [&](StepTime const& step) { return step.name == name; });
}

class SmallBlocks : public RelayOf {
  protected:
    explicit SmallBlocks(Settings const& settings = {}) : RelayOf(settings) {}

    /// Every block goes to the next rank.
    RedistributionReport move(std::uint64_t block_bytes) {
        constexpr std::uint64_t k_slots = 500;
        int const next = (context_.rank() + 1) % context_.size();
        int const before = (context_.rank() + context_.size() - 1) % context_.size();
        tests::GuardedArray array(k_slots, block_bytes);
        for (std::uint64_t slot = 0; slot < k_slots; ++slot)
            array.fill(slot, slot, static_cast<std::uint64_t>(context_.rank()));
        auto const to = [=](std::uint64_t slot, std::span<std::byte const>) {
            return Destination{next, static_cast<std::int64_t>(k_slots - 1 - slot)};
        };
        RedistributionReport report = redistribute(context_, array.blocks(), to);
        EXPECT_TRUE(array.guards_are_whole());
        for (std::uint64_t slot = 0; slot < k_slots; ++slot)
            EXPECT_TRUE(array.holds(slot, k_slots - 1 - slot, static_cast<std::uint64_t>(before)));
        return report;
    }
};

TEST_F(SmallBlocks, take_the_relay_inside_a_node) {
    if (!node_with(512_KiB)) GTEST_SKIP() << "the ranks have no rings";
    for (std::uint64_t const bytes : {1U, 64U, 255U}) {
        RedistributionReport const report = move(bytes);
        EXPECT_TRUE(has_step(report, "relay"));
        EXPECT_FALSE(has_step(report, "scan"));
    }
}

/// The budget grants its guaranteed minimum alone, so all ranks go on in the smallest staging.
class SmallBlocksWithLittleMemory : public SmallBlocks {
  protected:
    SmallBlocksWithLittleMemory() : SmallBlocks(with_little_memory()) {}
    static Settings with_little_memory() {
        Settings settings;
        settings.memory = 1_MiB;
        return settings;
    }
};

TEST_F(SmallBlocksWithLittleMemory, are_scanned_if_there_is_no_room_for_a_credit_of_each_rank) {
    std::shared_ptr<node::Node> const node = node_with(512_KiB);
    if (!node) GTEST_SKIP() << "the ranks have no rings";
    constexpr std::uint64_t k_block = 255;
    bool const has_credits = Relay::credits_for(*node, 2_KiB, k_block, 500) > 0;
    EXPECT_EQ(has_credits, context_.size() < 6);
    RedistributionReport const report = move(k_block);
    EXPECT_NE(report.why.find("smallest"), std::string::npos) << report.why;
    EXPECT_EQ(has_step(report, "relay"), has_credits);
    EXPECT_EQ(has_step(report, "scan"), !has_credits);
}

}  // namespace
}  // namespace sluice::redistribution
