// SPDX-License-Identifier: BSD-3-Clause
/// Every rank tells every target which of its slots are filled from where. That validates the map before any byte
/// moves, and builds the inverse map. The addresses travel by a sparse exchange (engine/sparse).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

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

/// The addresses that some rank can have.
class PossibleAddresses {
  public:
    /// No local array has more than `most_slots` slots.
    PossibleAddresses(int ranks, std::uint64_t most_slots) : ranks_(ranks), most_slots_(most_slots) {}

    /// True for an address that is none, too.
    bool has(Destination const& address) const noexcept {
        return address.rank < 0 ||
               (address.rank < ranks_ && address.index >= 0 && static_cast<std::uint64_t>(address.index) < most_slots_);
    }
    std::string why_not(Destination const& address) const;

  private:
    int ranks_;
    std::uint64_t most_slots_;
};

/// The error that a block cannot go where the caller says.
Error wrong_destination(int rank, std::uint64_t block, Destination const& to, std::string const& why);

/// Returns the destinations of the `room.size()` blocks from `first` on, either in `room` or where they are stored
/// already. One call for each block would cost as much as all other work on its address.
using DestinationsFrom = std::function<std::span<Destination const>(std::uint64_t first, std::span<Destination> room)>;

/// Collective. `most_slots` is the size of the largest local array. Asks `destinations` for the blocks below `live`.
/// Fills `inverse` (its marks are the live blocks) and, if not null, `forward`. Throws the same Error on every rank if
/// a rank or an index is out of range or two blocks go to one slot. Memory: a fixed part of `staging`, taken from
/// `meter`.
AddressCounts exchange_addresses(engine::ContextState& context, node::Node* node, std::uint64_t live,
                                 std::uint64_t most_slots, DestinationsFrom const& destinations, AddressMap* inverse,
                                 AddressMap* forward, Bytes staging);

}  // namespace sluice::redistribution
