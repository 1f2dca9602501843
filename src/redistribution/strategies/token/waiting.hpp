// SPDX-License-Identifier: BSD-3-Clause
/// How a rank waits inside a node.
#pragma once

namespace sluice::redistribution {

/// A rank that finds nothing to do lets others have the core that often before it sleeps: on a core that nobody else
/// wants a sleep and a wake-up cost more than a look, above all in a virtual machine, where the core itself is halted.
inline constexpr int k_yields_before_sleep = 100;

}  // namespace sluice::redistribution
