// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/binding/module.hpp"

#include <link.h>

#include <cstring>

namespace sluice::plugin {

namespace {

ModuleParts parts_of(dl_phdr_info const& module) noexcept {
    ModuleParts found;
    for (std::size_t i = 0; i < module.dlpi_phnum && found.count < found.parts.size(); ++i) {
        ElfW(Phdr) const& part = module.dlpi_phdr[i];
        if (part.p_type != PT_LOAD) continue;
        std::uintptr_t const begin = module.dlpi_addr + part.p_vaddr;
        found.parts[found.count++] = {begin, begin + part.p_memsz, (part.p_flags & PF_W) != 0};
    }
    return found;
}

bool holds(ModuleParts const& module, std::uintptr_t address) noexcept {
    for (std::size_t i = 0; i < module.count; ++i)
        if (address >= module.parts[i].begin && address < module.parts[i].end) return true;
    return false;
}

int keep_ours(dl_phdr_info* module, std::size_t, void* result) noexcept {
    ModuleParts const parts = parts_of(*module);
    if (!holds(parts, reinterpret_cast<std::uintptr_t>(&parts_of_this_module))) return 0;
    *static_cast<ModuleParts*>(result) = parts;
    return 1;
}

int is_called(dl_phdr_info* module, std::size_t, void* name) noexcept {
    char const* const path = module->dlpi_name == nullptr ? "" : module->dlpi_name;
    char const* const slash = std::strrchr(path, '/');
    auto const* const begin = static_cast<char const*>(name);
    return std::strncmp(slash == nullptr ? path : slash + 1, begin, std::strlen(begin)) == 0 ? 1 : 0;
}

}  // namespace

bool has_module(char const* name) noexcept {
    return dl_iterate_phdr(is_called, const_cast<char*>(name)) != 0;
}

ModuleParts parts_of_this_module() noexcept {
    ModuleParts ours;
    dl_iterate_phdr(keep_ours, &ours);
    return ours;
}

}  // namespace sluice::plugin
