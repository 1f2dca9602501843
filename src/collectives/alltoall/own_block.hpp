// SPDX-License-Identifier: BSD-3-Clause
/// The block of a rank for itself, which no message carries.
#pragma once

#include <new>
#include <optional>
#include <utility>

#include "collectives/alltoall/algorithm.hpp"
#include "types/datatype_pieces.hpp"

namespace sluice::collectives {

/// The datatypes of both sides, taken apart.
struct BothMaps {
    types::TypeMap from;
    types::TypeMap to;
    explicit BothMaps(Problem const& problem) : from(problem.from.type), to(problem.to.type) {}
};

/// Returns nothing if there is no memory for them.
inline std::optional<BothMaps> maps_if_possible(Problem const& problem) {
    try {
        return std::optional<BothMaps>(std::in_place, problem);
    } catch (std::bad_alloc const&) {
        return std::nullopt;
    }
}

/// Copies the block of this rank for itself. Allocates only for types with gaps; without memory MPI copies it.
void copy_own_block(Problem const& problem, AlltoallOutcome& outcome);

}  // namespace sluice::collectives
