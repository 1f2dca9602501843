// SPDX-License-Identifier: BSD-3-Clause
/// Sleeping on the rings of a node without missing what arrives in between.
#pragma once

#include <cstdint>

#include "node/node_rings.hpp"

namespace sluice::node {

enum class Slept : std::uint8_t { found_work, was_rung, was_not_rung };

/// Announces that the rank sleeps, calls `look` for the last time, and sleeps unless it returns true.
template <typename Look>
Slept sleep_unless(NodeRings& rings, Look const& look) {
    std::uint32_t const ticket = rings.prepare_to_sleep();
    if (look()) {
        rings.cancel_sleep();
        return Slept::found_work;
    }
    return rings.sleep(ticket) ? Slept::was_rung : Slept::was_not_rung;
}

}  // namespace sluice::node
