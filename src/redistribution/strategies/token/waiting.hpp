// SPDX-License-Identifier: BSD-3-Clause
/// How a rank waits inside a node.
#pragma once

#include <cstdint>

namespace sluice::redistribution {

/// A rank without work yields its core this often before it sleeps: on a core that no other process needs, a sleep and
/// a wake-up cost more than a look, above all in a virtual machine, where the core itself is halted.
inline constexpr std::uint64_t k_yields_before_sleep = 100;

}  // namespace sluice::redistribution
