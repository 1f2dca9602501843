// SPDX-License-Identifier: BSD-3-Clause
/// What the record says of the rank itself.
#pragma once

#include <cstdint>

#include "record/record.hpp"

namespace sluice::plugin {

/// Writes rank, size, name and version of the MPI, and marks the record as used. MPI must be initialised.
void describe_rank(record::RankHead& head, int rank, int size);

/// Writes that the rank has come to an end of this kind `end_us` after its start, and the most memory that it has used.
void write_end(record::RankHead& head, record::State state, std::uint64_t end_us) noexcept;

/// The time of day in microseconds since 1970.
std::uint64_t unix_us();

}  // namespace sluice::plugin
