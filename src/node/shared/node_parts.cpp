// SPDX-License-Identifier: BSD-3-Clause
#include "node/shared/node_parts.hpp"

#include <cstring>

namespace sluice::node {

bool NodeParts::exchange(Node& node, ArrayMemory& memory, std::byte* own,
                         std::optional<ArrayMemory::Place> const& place) {
    NodeRings& rings = node.rings();
    ArrayMemory::Place const mine = place.value_or(ArrayMemory::Place{});
    static_assert(sizeof mine <= decltype(rings.board(0))::extent);
    std::memcpy(rings.board(rings.rank()).data(), &mine, sizeof mine);
    rings.barrier();
    bool has_all = true;
    for (int local = 0; local < rings.size(); ++local) {
        auto const at = static_cast<std::size_t>(local);
        ArrayMemory::Place theirs;
        std::memcpy(&theirs, rings.board(local).data(), sizeof theirs);
        parts_[at] = {};
        bases_[at] = local == rings.rank() ? own : nullptr;
        if (local == rings.rank() || theirs.part.pid == 0) continue;
        std::byte* const base = memory.of_peer(theirs.part, keeping_);
        if (base == nullptr) {
            has_all = false;
            continue;
        }
        parts_[at] = theirs.part;
        bases_[at] = base + theirs.inside;
    }
    return has_all;
}

void NodeParts::forget(ArrayMemory& memory) noexcept {
    for (SharedPart const& part : parts_)
        if (part.pid != 0) memory.forget(part);
}

}  // namespace sluice::node
