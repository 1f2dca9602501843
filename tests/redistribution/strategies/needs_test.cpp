// SPDX-License-Identifier: BSD-3-Clause
// Which maps each strategy reads, told before the addresses are exchanged.
#include <gtest/gtest.h>
#include <mpi.h>

#include <memory>

#include "engine/context_state.hpp"
#include "node/node.hpp"
#include "redistribution/strategies/strategy.hpp"
#include "redistribution/strategies/token/token_form.hpp"
#include "sluice/context.hpp"

namespace sluice::redistribution {
namespace {

MapFacts facts_of(node::Node const* node, int ranks, std::optional<std::uint64_t> block_bytes) {
    return {.node = node, .ranks = ranks, .most_slots = 100, .staging = 2_MiB, .block_bytes = block_bytes};
}

TEST(Needs, are_the_forward_map_alone_for_all_strategies_but_token) {
    for (StrategyEntry const& entry : strategies()) {
        if (entry.id == Strategy::token) continue;
        MapNeeds const needs = entry.needs(facts_of(nullptr, 4, 8));
        EXPECT_TRUE(needs.forward) << entry.name;
        EXPECT_FALSE(needs.inverse) << entry.name;
        EXPECT_FALSE(entry.needs_node) << entry.name;
    }
}

TEST(Needs, of_token_without_a_node_are_the_inverse_map_for_blocks_of_any_size) {
    for (std::optional<std::uint64_t> const bytes : {std::optional<std::uint64_t>(1), {1 << 20}, {}}) {
        MapNeeds const needs = needs_of_token(facts_of(nullptr, 4, bytes));
        EXPECT_FALSE(needs.forward);
        EXPECT_TRUE(needs.inverse);
    }
}

TEST(Needs, of_token_inside_a_node_follow_the_size_of_the_blocks) {
    Context context(MPI_COMM_WORLD);
    std::shared_ptr<node::Node> const node = engine::ContextState::of(context).node(1_MiB);
    bool const may_scan = scan_is_possible(facts_of(node.get(), context.size(), {}));  // not without rings
    MapNeeds const small = needs_of_token(facts_of(node.get(), context.size(), 8));
    EXPECT_EQ(small.forward, may_scan);
    EXPECT_NE(small.inverse, may_scan);
    MapNeeds const large = needs_of_token(facts_of(node.get(), context.size(), 1 << 20));
    EXPECT_FALSE(large.forward);
    EXPECT_TRUE(large.inverse);
    MapNeeds const both = needs_of_token(facts_of(node.get(), context.size(), {}));
    EXPECT_EQ(both.forward, may_scan);
    EXPECT_TRUE(both.inverse);
}

TEST(Needs, of_token_are_no_scan_for_more_slots_than_32_bits_can_number) {
    Context context(MPI_COMM_WORLD);
    std::shared_ptr<node::Node> const node = engine::ContextState::of(context).node(1_MiB);
    MapFacts facts = facts_of(node.get(), context.size(), 8);
    facts.most_slots = std::uint64_t{1} << 32;
    EXPECT_FALSE(needs_of_token(facts).forward);
    EXPECT_TRUE(needs_of_token(facts).inverse);
}

}  // namespace
}  // namespace sluice::redistribution
