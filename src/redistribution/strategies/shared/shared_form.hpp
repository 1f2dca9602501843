// SPDX-License-Identifier: BSD-3-Clause
/// What a redistribution holds whose arrays lie in memory that all ranks map (sluice/allocate.hpp): the arrays and the
/// map, both of all ranks. Every function is collective and returns the same on all ranks; if one of them cannot map
/// something, all take another form.
///
///     map_arrays ──> tell (one call) or take (a plan) ──> walk
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/context_state.hpp"
#include "node/node.hpp"
#include "node/shared/node_parts.hpp"
#include "redistribution/address_exchange.hpp"
#include "redistribution/strategies/shared/shared_map.hpp"
#include "sluice/redistribute.hpp"

namespace sluice::redistribution {

struct Problem;
class Mover;

class SharedForm {
  public:
    /// Local: whether this rank's array is one that peers can map, and the context one that may share.
    static bool may_serve(engine::ContextState& context, Blocks const& blocks) noexcept;
    /// The same on all ranks: whether `node` is the whole context and small enough to be mapped.
    static bool is_possible(node::Node const& node, int ranks) noexcept;

    SharedForm(engine::ContextState& context, std::shared_ptr<node::Node> node)
        : context_(context), node_(std::move(node)), arrays_(node_->size()) {}

    bool map_arrays(Blocks const& blocks);
    /// Makes the map from the destinations of this rank's blocks; false also for a map with a fault.
    bool tell(std::uint64_t slots, std::uint64_t most_slots, std::uint64_t live, DestinationsFrom const& destinations,
              AddressCounts& counts);
    /// Makes the map from a checked one, at the first call.
    bool take(std::uint64_t most_slots, AddressMap const& inverse);

    /// Bytes of the map on this rank.
    Bytes memory() const noexcept { return map_ ? map_->memory() : Bytes{}; }
    SharedMap& map() noexcept { return *map_; }
    node::Node& node() noexcept { return *node_; }
    std::span<std::byte* const> arrays() const noexcept { return arrays_.bases(); }

  private:
    bool make_map(std::uint64_t slots, std::uint64_t most_slots);

    engine::ContextState& context_;
    std::shared_ptr<node::Node> node_;
    node::NodeParts arrays_;
    std::optional<SharedMap> map_;
};

/// Local. For a Problem whose `shared` is ready. Throws std::bad_alloc.
std::unique_ptr<Mover> prepare_walk(Problem const& problem);

}  // namespace sluice::redistribution
