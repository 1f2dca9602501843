// SPDX-License-Identifier: BSD-3-Clause
/// The handle of an MPI object as a key of a table.
#pragma once

#include <cstdint>
#include <cstring>

namespace sluice::mpi {

/// Handles are addresses (Open MPI) or numbers (MPICH). The key of one that is not null is never 0 or 1, which tables
/// keep for their empty slots.
template <class Handle>
std::uint64_t handle_key(Handle handle) noexcept {
    static_assert(sizeof handle <= sizeof(std::uint64_t));
    std::uint64_t key = 0;
    std::memcpy(&key, &handle, sizeof handle);
    return key + 2;
}

}  // namespace sluice::mpi
