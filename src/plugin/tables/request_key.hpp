// SPDX-License-Identifier: BSD-3-Clause
/// A request's handle as a key of a table.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>

namespace sluice::plugin {

/// Handles are addresses or numbers; the key of one that can be open is never 0 or 1.
inline std::uint64_t key_of(MPI_Request request) noexcept {
    std::uint64_t key = 0;
    std::memcpy(&key, &request, sizeof request);
    return key + 2;
}

}  // namespace sluice::plugin
