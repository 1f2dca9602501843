// SPDX-License-Identifier: BSD-3-Clause
/// Checks the arguments of callers for errors that one rank detects by itself, and brings maps into one form.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "redistribution/address_exchange.hpp"
#include "sluice/error.hpp"
#include "sluice/redistribute.hpp"

namespace sluice::redistribution {

Error invalid(std::string const& text);

/// Throws Error(invalid_argument) if an object was moved from, so that it has no state; `object` is its class.
template <class State>
State& existing(std::unique_ptr<State> const& state, char const* object) {
    if (!state)
        throw invalid(std::string("the ") + object +
                      " was moved from: use the object that it was moved to, or make a new one");
    return *state;
}

/// Returns the fault that this rank alone can see in an array, if there is one.
std::optional<Error> fault_of(Blocks const& blocks);
/// Returns the fault in a list of destinations for an array of `count` blocks.
std::optional<Error> fault_of(std::uint64_t count, std::span<Destination const> destinations);

/// Asks a rule for the destinations of `count` blocks twice. Returns a fault if the second answer differs, as that of a
/// rule with a counter or with random numbers does.
std::optional<Error> fault_of_rule(int rank, std::uint64_t count,
                                   std::function<Destination(std::uint64_t index)> const& destination);

/// These make either form of a map available to the exchange of addresses. The arguments must outlive the result.
DestinationsFrom listed(std::span<Destination const> destinations);
DestinationsFrom computed(std::function<Destination(std::uint64_t index)> const& destination);

}  // namespace sluice::redistribution
