// SPDX-License-Identifier: BSD-3-Clause
/// Changes the strategy during a run: phases of parking while free space is ample, then a cyclic schedule for the rest,
/// as soon as that is predicted to be faster than the phases still to come.
#pragma once

#include "redistribution/strategies/strategy.hpp"

namespace sluice::redistribution {

/// Not one of strategies(): only `auto` takes it, if some free slot exists. The report calls it parking.
StrategyEntry const& parking_then_cyclic_entry();

std::unique_ptr<Mover> prepare_parking_then_cyclic(Problem const& problem);

}  // namespace sluice::redistribution
