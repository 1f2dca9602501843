// SPDX-License-Identifier: BSD-3-Clause
/// Nobody falls back or fails alone: decisions that change what goes over the wire are agreed on first.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "sluice/error.hpp"

namespace sluice::groups {

/// Collective. When any rank brings an error, every rank throws the one of the lowest such rank.
void agree_on_no_error(MPI_Comm comm, std::optional<Error> const& mine);

/// Collective. True when every rank brings the same value.
bool all_equal(MPI_Comm comm, std::uint64_t value);

/// Collective. True when it is true on every rank.
bool all_true(MPI_Comm comm, bool value);

/// Collective minimum, maximum and sum.
std::uint64_t least_of(MPI_Comm comm, std::uint64_t value);
std::uint64_t most_of(MPI_Comm comm, std::uint64_t value);
std::uint64_t sum_of(MPI_Comm comm, std::uint64_t value);

}  // namespace sluice::groups
