// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/device_blocks.hpp"

#include <optional>

#include "kernel/device/device_memory.hpp"
#include "types/datatype_pieces.hpp"

namespace sluice::collectives {

char const* device_of(InplaceBlocks const& blocks, int rank, int size) {
    if (kernel::device_library() == nullptr) return nullptr;
    std::optional<types::TypeMap> map;
    for (int member = 0; member < size; ++member) {
        std::int64_t const count = blocks.counts.at(member);
        if (member == rank || count <= 0) continue;
        if (!map || blocks.types != nullptr) map.emplace(blocks.type_of(member));
        types::PieceCursor pieces(*map, blocks.address_of(member, map->extent()), static_cast<std::uint64_t>(count));
        types::Piece const first = pieces.next(1);
        if (first.bytes == 0) continue;
        if (char const* const library = kernel::device_of(first.address); library != nullptr) return library;
    }
    return nullptr;
}

}  // namespace sluice::collectives
