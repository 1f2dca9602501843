// SPDX-License-Identifier: BSD-3-Clause
/// Every rank tells every target which of its slots are filled from where. That validates the map before any byte
/// moves, and builds the inverse map. The addresses travel by a sparse exchange (engine/sparse).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "engine/context_state.hpp"
#include "memory/meter.hpp"
#include "redistribution/address_map.hpp"
#include "sluice/redistribute.hpp"

namespace sluice::redistribution {

/// Sums over the local blocks and slots.
struct AddressCounts {
    std::uint64_t incoming = 0;             ///< blocks that come from other ranks
    std::uint64_t outgoing = 0;             ///< blocks that go to other ranks
    std::uint64_t outgoing_by_message = 0;  ///< of these, to ranks outside the node
    std::uint64_t staying = 0;              ///< blocks that stay on this rank, moved or not
};

/// Returns the destinations of the `room.size()` blocks from `first` on, either in `room` or where they are stored
/// already. One call for each block would cost as much as all other work on its address.
using DestinationsFrom = std::function<std::span<Destination const>(std::uint64_t first, std::span<Destination> room)>;

/// Collective. Asks `destinations` for the blocks below `live`. Fills `inverse` (its marks are the live blocks) and, if
/// not null, `forward`. Throws the same Error on every rank if a rank or an index is out of range or two blocks go to
/// one slot. Memory: a fixed part of `staging`, taken from `meter`.
AddressCounts exchange_addresses(engine::ContextState& context, node::Node* node, std::uint64_t live,
                                 DestinationsFrom const& destinations, AddressMap* inverse, AddressMap* forward,
                                 Bytes staging);

}  // namespace sluice::redistribution
