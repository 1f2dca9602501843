// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/startup_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "kernel/page_map.hpp"
#include "plugin/binding/module.hpp"

namespace sluice::plugin {

void give_back_pages(ModuleParts const& module) noexcept {
    auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    kernel::PageMap const pages;
    for (std::size_t i = 0; i < module.count; ++i) {
        ModulePart const& part = module.parts[i];
        if (part.writable) continue;
        // Whole pages inside the part: those at its ends may be a neighbour's, too.
        std::uintptr_t const begin = (part.begin + page - 1) / page * page;
        std::uintptr_t const end = part.end / page * page;
        if (begin >= end) continue;
        // Where a debugger has written into pages of code, these are no file's any more.
        auto const found = pages.resident(begin, end - begin);
        if (found && found->anonymous + found->swapped == 0)
            madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    }
}

void give_back_startup_pages() noexcept {
    give_back_pages(parts_of_this_module());
}

}  // namespace sluice::plugin
