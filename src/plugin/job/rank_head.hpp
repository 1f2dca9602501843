// SPDX-License-Identifier: BSD-3-Clause
/// What the record says of the rank itself.
#pragma once

#include <cstdint>

#include "record/record.hpp"

namespace sluice::plugin {

/// Writes rank, size, name and version of the MPI, and marks the record as used. MPI must be initialised.
void describe_rank(record::RankHead& head, int rank, int size);

/// Writes that the rank has come to an end of this kind now, which is `end_us` after its start.
void write_end(record::RankHead& head, record::State state, std::uint64_t end_us) noexcept;

}  // namespace sluice::plugin
