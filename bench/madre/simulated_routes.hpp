// SPDX-License-Identifier: BSD-3-Clause
/// The routes of the simulated platform, as the simulator reports them.
#pragma once

#include "madre/lower_bound.hpp"

namespace sluice::bench {

/// Returns the routes between ranks, by the host of each rank. Collective over MPI_COMM_WORLD; only rank 0 gets usable
/// routes. Keeps one number for each link that it has met.
Routes simulated_routes();

}  // namespace sluice::bench
