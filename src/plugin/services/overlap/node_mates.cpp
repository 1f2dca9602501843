// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/overlap/node_mates.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include "kernel/files/folder.hpp"
#include "record/node_file.hpp"

namespace sluice::plugin {

bool NodeMates::has(int world_rank) noexcept {
    if (world_rank < 0) return true;
    auto const rank = static_cast<std::uint32_t>(world_rank);
    if (std::binary_search(ranks_.begin(), ranks_.end(), rank)) return true;
    if (!knows_all_ && looks_ < k_most_looks) look();
    return !knows_all_ || std::binary_search(ranks_.begin(), ranks_.end(), rank);
}

bool NodeMates::are_all(int number) noexcept {
    look();
    return knows_all_ && ranks_.size() == static_cast<std::size_t>(number);
}

/// A rank writes its number into its record before it leaves MPI_Init.
void NodeMates::look() noexcept {
    ++looks_;
    if (!file_.shares_node()) return;
    try {
        record::NodeFile const node(kernel::Folder::named(file_.folder()), file_.name());
        if (!node.fault().empty()) return;
        bool all = node.whole() == node.arrived();
        ranks_.clear();
        auto const head = std::make_unique<record::RankHead>();
        for (std::uint64_t i = 0; i < node.whole(); ++i) {
            if (node.read_head(i, *head) && head->used != 0)
                ranks_.push_back(head->world_rank);
            else
                all = false;
        }
        std::sort(ranks_.begin(), ranks_.end());
        knows_all_ = all;
    } catch (std::bad_alloc const&) {  // then it is not known
    }
}

}  // namespace sluice::plugin
