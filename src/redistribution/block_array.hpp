// SPDX-License-Identifier: BSD-3-Clause
/// The caller's array as slots, followed by at most one spare slot that is elsewhere in memory.
///
///     slot   0     1     2          slots-1    slots
///          +-----+-----+-----+ ... +-----+   +-------+
///          |     caller's memory, l bytes each|   | spare |
///          +-----+-----+-----+ ... +-----+   +-------+
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sluice::redistribution {

/// Does not own the memory.
struct BlockArray {
    std::byte* data;
    std::uint64_t slots;  ///< number of slots in the caller's array
    std::uint64_t block_bytes;
    std::byte* spare = nullptr;  ///< slot number `slots`, if there is one

    std::byte* at(std::uint64_t slot) const noexcept { return slot < slots ? data + slot * block_bytes : spare; }
    void copy(std::uint64_t from, std::uint64_t to) const noexcept { std::memcpy(at(to), at(from), block_bytes); }
};

}  // namespace sluice::redistribution
