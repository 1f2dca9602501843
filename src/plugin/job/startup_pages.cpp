// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/startup_pages.hpp"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace sluice::plugin {

namespace {

bool holds(dl_phdr_info const& module, std::uintptr_t address) noexcept {
    for (std::size_t i = 0; i < module.dlpi_phnum; ++i) {
        ElfW(Phdr) const& part = module.dlpi_phdr[i];
        std::uintptr_t const begin = module.dlpi_addr + part.p_vaddr;
        if (part.p_type == PT_LOAD && address >= begin && address < begin + part.p_memsz) return true;
    }
    return false;
}

int give_back(dl_phdr_info* module, std::size_t, void*) noexcept {
    if (!holds(*module, reinterpret_cast<std::uintptr_t>(&give_back_startup_pages))) return 0;
    auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    for (std::size_t i = 0; i < module->dlpi_phnum; ++i) {
        ElfW(Phdr) const& part = module->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
        // Whole pages inside the part: those at its ends may be a neighbour's, too.
        std::uintptr_t const begin = (module->dlpi_addr + part.p_vaddr + page - 1) / page * page;
        std::uintptr_t const end = (module->dlpi_addr + part.p_vaddr + part.p_memsz) / page * page;
        if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    }
    return 1;
}

}  // namespace

void give_back_startup_pages() noexcept {
    dl_iterate_phdr(give_back, nullptr);
}

}  // namespace sluice::plugin
