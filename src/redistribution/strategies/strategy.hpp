// SPDX-License-Identifier: BSD-3-Clause
/// The contract of a strategy. Each strategy has a file or folder here and one line in strategy.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "engine/context_state.hpp"
#include "engine/transports/place_memory.hpp"
#include "memory/meter.hpp"
#include "redistribution/address_map.hpp"
#include "redistribution/strategies/shared/shared_form.hpp"
#include "sluice/redistribute.hpp"

namespace sluice::redistribution {

/// What is known before the addresses are exchanged. Equal on all ranks.
struct MapFacts {
    node::Node const* node;                    ///< null for a strategy that does not need it
    int ranks;                                 ///< of the context
    std::uint64_t most_slots;                  ///< the largest local array of all ranks
    Bytes staging;                             ///< what a strategy may take
    std::optional<std::uint64_t> block_bytes;  ///< nothing if blocks of several sizes may be moved
};

/// Which maps a strategy reads.
struct MapNeeds {
    bool forward;
    bool inverse;
};

/// One validated redistribution problem: all addresses are in range and no two blocks go to the same one. Outlives the
/// Mover.
struct Problem {
    engine::ContextState& context;
    node::Node* node;  ///< null for a strategy that does not need it
    AddressMap*
        forward;  ///< where each local block goes; null for a strategy that does not read it. Changed only if `once`
    AddressMap* inverse;  ///< where each slot's final content comes from; null for a strategy that does not read it
    std::uint64_t slots;  ///< local slots
    std::uint64_t most_slots;   ///< the largest local array of all ranks
    std::uint64_t block_bytes;  ///< at least 1, equal on all ranks
    Bytes staging;              ///< bytes that the strategy may allocate in addition to bookkeeping, equal on all ranks
    std::uint64_t incoming;     ///< blocks that come from other ranks
    std::uint64_t outgoing;     ///< blocks that go to other ranks
    std::uint64_t outgoing_by_message;  ///< of these, blocks to ranks that cannot be reached inside the node
    std::uint64_t staying;              ///< blocks of this rank that go to this rank
    bool once;                          ///< the maps are not used again after one move
    engine::PlaceMemory* places;        ///< of form pool, on all ranks of the node; null: another form moves
    SharedForm* shared;                 ///< arrays and map that all ranks have mapped; null: they have not
    memory::Meter& meter;               ///< all memory of the strategy is allocated through it (MeteredVector)
};

inline MapFacts map_facts(Problem const& problem) {
    return {.node = problem.node,
            .ranks = problem.context.size(),
            .most_slots = problem.most_slots,
            .staging = problem.staging,
            .block_bytes = problem.block_bytes};
}

/// A strategy that has all its memory and is ready to move arrays of one shape by one map.
class Mover {
  public:
    virtual ~Mover() = default;
    /// Collective. Moves the blocks of `data` and adds its counts to `report`. Allocates nothing that grows with the
    /// data; after the first byte has moved it cannot fail. May be called again for another array.
    virtual void move(std::byte* data, RedistributionReport& report) = 0;
};

struct StrategyEntry {
    Strategy id;
    std::string_view name;
    bool needs_node;
    /// Local. Returns the same on all ranks.
    MapNeeds (*needs)(MapFacts const& facts);
    /// Local (no communication). Allocates all that `move` needs; throws std::bad_alloc or Error(out_of_memory) if it
    /// cannot.
    std::unique_ptr<Mover> (*prepare)(Problem const& problem);
};

/// All strategies except `auto`, which chooses among these.
std::span<StrategyEntry const> strategies();
StrategyEntry const& strategy_entry(Strategy id);

/// The needs of a strategy that reads the forward map alone.
inline MapNeeds needs_forward(MapFacts const&) {
    return {.forward = true, .inverse = false};
}
MapNeeds needs_of_token(MapFacts const& facts);

/// Collective over the node, before prepare_token(). Returns the places of form pool, or null on all ranks of the node:
/// if the form is another one, `may_take` is false on a rank, or a rank cannot share memory.
std::unique_ptr<engine::PlaceMemory> share_places(Problem const& problem, bool may_take);
std::unique_ptr<Mover> prepare_token(Problem const& problem);
std::unique_ptr<Mover> prepare_parking(Problem const& problem);
std::unique_ptr<Mover> prepare_cyclic(Problem const& problem);
std::unique_ptr<Mover> prepare_alltoallv(Problem const& problem);

}  // namespace sluice::redistribution
