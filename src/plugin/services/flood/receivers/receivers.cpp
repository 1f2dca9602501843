// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/flood/receivers/receivers.hpp"

#include <sys/mman.h>

#include <memory>
#include <new>

#include "kernel/files/folder.hpp"
#include "plugin/binding/tally.hpp"
#include "record/node_file.hpp"

namespace sluice::plugin {

Receivers::~Receivers() {
    for (Seen& seen : seen_)
        forget(seen);
}

void Receivers::forget(Seen& seen) noexcept {
    if (seen.head != nullptr) munmap(const_cast<record::RankHead*>(seen.head), record::k_head_page);
    seen = {};
}

std::optional<std::uint64_t> Receivers::completed(int world_rank) noexcept {
    Seen& seen = seen_[static_cast<std::size_t>(world_rank) % k_seen];
    if (seen.rank != world_rank) {
        forget(seen);
        seen = {world_rank, look_for(world_rank)};
    }
    if (seen.head == nullptr) return std::nullopt;
    return look_at(seen.head->receives);
}

/// A rank writes its number into its record before it leaves MPI_Init, and all have left it that have agreed on this
/// service.
record::RankHead const* Receivers::look_for(int world_rank) const noexcept {
    if (!file_.shares_node()) return nullptr;
    try {
        record::NodeFile const node(kernel::Folder::named(file_.folder()), file_.name());
        if (!node.fault().empty()) return nullptr;
        auto const head = std::make_unique<record::RankHead>();
        for (std::uint64_t i = 0; i < node.whole(); ++i)
            if (node.read_head(i, *head) && head->used != 0 &&
                head->world_rank == static_cast<std::uint32_t>(world_rank))
                return node.map_head(i);
    } catch (std::bad_alloc const&) {  // then it is not known
    }
    return nullptr;
}

}  // namespace sluice::plugin
