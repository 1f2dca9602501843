// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/own_pages.hpp"

#include "kernel/page_map.hpp"
#include "plugin/binding/module.hpp"

namespace sluice::plugin {

OwnPages::OwnPages() {
    ModuleParts const module = parts_of_this_module();
    for (std::size_t i = 0; i < module.count; ++i)
        add(reinterpret_cast<void const*>(module.parts[i].begin), module.parts[i].end - module.parts[i].begin, true);
    of_module_ = count_;
}

void OwnPages::add(void const* from, std::uint64_t bytes, bool on_disk) noexcept {
    std::lock_guard const lock(looking_);
    if (count_ < ranges_.size()) ranges_[count_++] = {reinterpret_cast<std::uintptr_t>(from), bytes, on_disk};
}

void OwnPages::look() noexcept {
    std::lock_guard const lock(looking_);
    kernel::PageMap const pages;
    Resident sum;
    std::uint64_t code = 0;
    for (std::size_t i = 0; i < count_; ++i) {
        auto const found = pages.resident(ranges_[i].from, ranges_[i].bytes);
        if (!found) return;
        sum.private_bytes += found->anonymous;
        (ranges_[i].on_disk ? sum.file_bytes : sum.shared_bytes) += found->of_files;
        if (i < of_module_) code += found->of_files;
    }
    put(found_.private_bytes, sum.private_bytes);
    put(found_.shared_bytes, sum.shared_bytes);
    put(found_.file_bytes, sum.file_bytes);
    put(code_, code);
}

}  // namespace sluice::plugin
