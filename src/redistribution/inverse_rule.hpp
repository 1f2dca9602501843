// SPDX-License-Identifier: BSD-3-Clause
/// A map whose inverse the caller knows: each rank asks both rules for its own part, and no address travels. Whether
/// the second rule inverts the first is checked by sums over all ranks:
///
///     blocks of all ranks  {(rank, block) -> (rank, slot)}   as the destinations say
///     slots of all ranks   {(rank, block) -> (rank, slot)}   as the inverse says
///
/// In the first set each block that exists is named once, in the second each slot. So if the sets are equal, every
/// address of both is in range and used once: the map is valid, and the inverse is right. The sets are compared by two
/// independent sums of hashes of 64 bits, which differ if the sets do, but for a chance of 2^-128.
#pragma once

#include <cstdint>

#include "engine/context_state.hpp"
#include "node/node.hpp"
#include "redistribution/address_exchange.hpp"
#include "redistribution/address_map.hpp"
#include "sluice/redistribute.hpp"

namespace sluice::redistribution {

/// The arrays of all ranks.
struct ArraySizes {
    std::uint64_t slots;       ///< of this rank
    std::uint64_t most_slots;  ///< of any rank
};

/// Collective. Does what exchange_addresses() does, by asking `source_of` for each slot; either map may be null.
/// Throws the same Error on every rank if an address cannot be, or `source_of` is not the inverse. Takes no memory.
AddressCounts take_both_ways(engine::ContextState& context, node::Node const* node, ArraySizes const& sizes,
                             std::uint64_t live, DestinationsFrom const& destinations, InverseFunction const& source_of,
                             AddressMap* inverse, AddressMap* forward);

/// Collective. Compares `source_of` with the inverse map that the exchange of addresses has made. Throws the same Error
/// on every rank; it names the first slot that differs.
void check_inverse(engine::ContextState& context, AddressMap const& inverse, InverseFunction const& source_of);

}  // namespace sluice::redistribution
