// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/own_pages.hpp"

#include "plugin/binding/module.hpp"

namespace sluice::plugin {

OwnPages::OwnPages() {
    ModuleParts const module = parts_of_this_module();
    for (std::size_t i = 0; i < module.count; ++i)
        add(reinterpret_cast<void const*>(module.parts[i].begin), module.parts[i].end - module.parts[i].begin);
}

void OwnPages::add(void const* from, std::uint64_t bytes) noexcept {
    std::lock_guard const lock(looking_);
    if (count_ < ranges_.size()) ranges_[count_++] = {reinterpret_cast<std::uintptr_t>(from), bytes};
}

void OwnPages::look() noexcept {
    std::lock_guard const lock(looking_);
    Resident sum;
    for (std::size_t i = 0; i < count_; ++i) {
        auto const pages = pages_.resident(ranges_[i].from, ranges_[i].bytes);
        if (!pages) return;
        sum.private_bytes += pages->anonymous;
        sum.shared_bytes += pages->of_files;
    }
    put(found_.private_bytes, sum.private_bytes);
    put(found_.shared_bytes, sum.shared_bytes);
}

}  // namespace sluice::plugin
