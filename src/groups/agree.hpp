// SPDX-License-Identifier: BSD-3-Clause
/// Decisions that change the messages of a call are agreed on first, so that no rank falls back or fails alone.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <span>

#include "sluice/error.hpp"

namespace sluice::groups {

/// Collective. If any rank passes an error, every rank throws the error of the lowest such rank. That rank allocates
/// nothing; another one that has no memory for the text throws the error without it.
void agree_on_no_error(MPI_Comm comm, std::optional<Error> const& mine);

/// Collective. True if the value is true on every rank.
bool all_true(MPI_Comm comm, bool value);

/// Collective. Each value becomes its maximum over all ranks, in one reduction; as unsigned numbers on every MPI.
void most_of_all(MPI_Comm comm, std::span<std::uint64_t> values);
/// Collective. The minimum, maximum or sum over all ranks.
std::uint64_t least_of(MPI_Comm comm, std::uint64_t value);
std::uint64_t most_of(MPI_Comm comm, std::uint64_t value);
std::uint64_t sum_of(MPI_Comm comm, std::uint64_t value);

}  // namespace sluice::groups
