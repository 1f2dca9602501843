// SPDX-License-Identifier: BSD-3-Clause
/// Makes the mover of the relay form.
#pragma once

#include <memory>

#include "redistribution/strategies/strategy.hpp"

namespace sluice::redistribution {

/// Local. Whether the relay moves the blocks of a problem that the scan could move. The same on all ranks.
bool takes_relay(Problem const& problem);

/// Local. For a problem that takes the relay. Throws std::bad_alloc.
std::unique_ptr<Mover> prepare_relay(Problem const& problem);

}  // namespace sluice::redistribution
