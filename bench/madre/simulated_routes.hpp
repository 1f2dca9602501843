// SPDX-License-Identifier: BSD-3-Clause
/// The routes of the simulated platform, asked from the simulator itself.
#pragma once

#include "madre/lower_bound.hpp"

namespace sluice::bench {

/// Routes between ranks, by the host each one runs on. Collective over MPI_COMM_WORLD; only rank 0 gets usable routes.
/// Keeps one number for each link seen.
Routes simulated_routes();

}  // namespace sluice::bench
