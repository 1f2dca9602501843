// SPDX-License-Identifier: BSD-3-Clause
/// What callers passed: faults that one rank sees by itself, and values that all ranks must have passed alike.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "engine/context_state.hpp"
#include "redistribution/address_exchange.hpp"
#include "sluice/error.hpp"
#include "sluice/redistribute.hpp"

namespace sluice::redistribution {

Error invalid(std::string const& text);

/// What is wrong with one array, by local facts alone.
std::optional<Error> fault_of(Blocks const& blocks);
/// What is wrong with a list of destinations for an array of `count` blocks.
std::optional<Error> fault_of(std::uint64_t count, std::span<Destination const> destinations);

/// A value that every rank must have passed alike.
struct Alike {
    char const* what;
    std::uint64_t value;
};

/// Collective: one error on all ranks where one rank found one, or where values that must be alike are not.
/// At most 3 values. Returns the largest `count` of all ranks.
std::uint64_t agree(engine::ContextState& context, std::optional<Error> mine, std::uint64_t count,
                    std::span<Alike const> alike);

/// The two forms of a map, as the exchange of addresses asks for it. What they are made of must outlive them.
DestinationsFrom listed(std::span<Destination const> destinations);
DestinationsFrom computed(std::function<Destination(std::uint64_t index)> const& destination);

}  // namespace sluice::redistribution
