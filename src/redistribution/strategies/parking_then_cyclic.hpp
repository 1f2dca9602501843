// SPDX-License-Identifier: BSD-3-Clause
/// Changes strategy in the middle of a run: phases of parking while free space is ample, then a cyclic schedule for
/// what is left, as soon as that is predicted to be faster than the phases still to come.
#pragma once

#include "redistribution/strategies/strategy.hpp"

namespace sluice::redistribution {

/// Not one of strategies(): only `auto` takes it, where some free slot exists. Reported as parking.
StrategyEntry const& parking_then_cyclic_entry();

std::unique_ptr<Mover> prepare_parking_then_cyclic(Problem const& problem);

}  // namespace sluice::redistribution
