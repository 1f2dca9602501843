// SPDX-License-Identifier: BSD-3-Clause
/// What an MPI takes for messages that wait for their receive.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sluice::base {

/// Memory of the receiver's MPI for one waiting message of so many bytes, about: also what describes it, and the rest
/// of the room that it is put into. 64 bytes take 1.2 KiB, 1 KiB takes 4.2 KiB, 16 KiB take 19 KiB (Open MPI over tcp,
/// docs/decisions/0136).
constexpr std::uint64_t memory_of_message(std::uint64_t bytes) noexcept {
    return 1024 + bytes + std::min<std::uint64_t>(2 * bytes, 2048);
}

}  // namespace sluice::base
