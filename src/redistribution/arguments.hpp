// SPDX-License-Identifier: BSD-3-Clause
/// Checks the arguments of callers: errors that one rank detects by itself, and values that must be equal on all ranks.
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

/// Checks one array by local facts only.
std::optional<Error> fault_of(Blocks const& blocks);
/// Checks a list of destinations for an array of `count` blocks.
std::optional<Error> fault_of(std::uint64_t count, std::span<Destination const> destinations);

/// A value that must be equal on every rank.
struct Alike {
    char const* what;
    std::uint64_t value;
};

/// Collective. Throws the same error on all ranks if one rank has one in `mine`, or if values that must be equal are
/// not. At most 3 values. Returns the largest `count` of all ranks.
std::uint64_t agree(engine::ContextState& context, std::optional<Error> mine, std::uint64_t count,
                    std::span<Alike const> alike);

/// Make either form of a map available to the exchange of addresses. The arguments must outlive the result.
DestinationsFrom listed(std::span<Destination const> destinations);
DestinationsFrom computed(std::function<Destination(std::uint64_t index)> const& destination);

}  // namespace sluice::redistribution
