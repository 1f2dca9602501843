// SPDX-License-Identifier: BSD-3-Clause
/// Which algorithm an all-to-all takes: a cost for each, in the manner of R. Hockney's model (a time for each message
/// and a time for each byte, 1994), fitted to what `sluice bench alltoall` measures with each MPI. Pure functions of
/// values that are equal on all ranks, so all ranks choose alike and no message is sent for it.
#pragma once

#include "collectives/alltoall/algorithm.hpp"

namespace sluice::collectives {

double cost_of_plain(Facts const& facts);
double cost_of_log_step(Facts const& facts);
double cost_of_window(Facts const& facts);
double cost_of_pull(Facts const& facts);

/// Whether the rule may take it: it serves, and what it may have under way fits into the budget. The window has as many
/// messages under way as the budget has tokens for; the MPI's own call may have those of all ranks.
bool is_candidate(AlgorithmEntry const& entry, Facts const& facts);

/// The cheapest candidate; the MPI's own unless another one is cheaper by k_margin.
AlltoallAlgorithm choose(Facts const& facts);

/// `wished`, if it serves; `window`, if it does not; the choice of the rule for `automatic` and `measured`.
AlltoallAlgorithm granted(AlltoallAlgorithm wished, Facts const& facts);

}  // namespace sluice::collectives
