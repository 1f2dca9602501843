// SPDX-License-Identifier: BSD-3-Clause
/// One all-to-all from one buffer into another, of a plan or without one: checks of what this rank passes, and the way
/// from the context to an algorithm.
#pragma once

#include <cstdint>

#include "collectives/alltoall/algorithm.hpp"
#include "engine/context_state.hpp"

namespace sluice::collectives {

/// Fills the problem of a call on the context. Throws Error(invalid_argument) for a null datatype, a negative count or
/// two sides with different bytes for this rank itself.
Problem problem_of(engine::ContextState& state, Blocks const& from, Blocks const& to, AlltoallOptions const& options);

/// Whether a datatype is one of MPI's own.
bool is_predefined(MPI_Datatype type);

/// Throws Error(invalid_argument) if a buffer is null and not empty, or if both are the same.
void check_buffers(Problem const& problem);

/// What all ranks know alike without a message. `even`: every pair has the bytes of this rank's first block.
Facts facts_of(engine::ContextState const& state, Problem const& problem, bool even);

/// An outcome with the bytes that leave and come.
AlltoallOutcome outcome_of(Problem const& problem);

/// Collective. Runs an algorithm and fills the rest of the outcome. Throws Error(invalid_argument) for memory of a
/// device, unless the MPI's own call is made, which may know how to move it.
void run_alltoall(engine::ContextState& state, Problem const& problem, AlltoallAlgorithm algorithm,
                  AlltoallOutcome& outcome);

}  // namespace sluice::collectives
