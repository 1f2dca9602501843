// SPDX-License-Identifier: BSD-3-Clause
/// Shared memory of all ranks of a node, mapped in this process.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "node/node.hpp"
#include "node/shared/array_memory.hpp"

namespace sluice::node {

/// One range of each rank of a node, by local rank: where it begins here.
class NodeParts {
  public:
    using Keeping = ArrayMemory::Keeping;
    /// Takes memory for `size` ranks. Throws std::bad_alloc. `keeping`: how long the ranges of peers stay mapped.
    explicit NodeParts(int size, Keeping keeping = Keeping::among_the_last)
        : keeping_(keeping), bases_(static_cast<std::size_t>(size)), parts_(bases_.size()) {}

    /// Collective over the node, which has rings: shows this rank's range, which begins at `own`, to the others, and
    /// maps theirs. A rank without a range has nothing to show. Returns whether this rank has mapped all. The board is
    /// in use until all ranks have agreed on the answers.
    bool exchange(Node& node, ArrayMemory& memory, std::byte* own, std::optional<ArrayMemory::Place> const& place);
    std::span<std::byte* const> bases() const noexcept { return bases_; }
    /// Unmaps what the peers are about to free.
    void forget(ArrayMemory& memory) noexcept;

  private:
    Keeping keeping_;
    std::vector<std::byte*> bases_;
    std::vector<SharedPart> parts_;  // of peers
};

}  // namespace sluice::node
