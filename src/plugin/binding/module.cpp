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

struct Search {
    std::uintptr_t address;
    ModuleParts found;
};

int keep_if_it_holds(dl_phdr_info* module, std::size_t, void* argument) noexcept {
    auto& search = *static_cast<Search*>(argument);
    ModuleParts const parts = parts_of(*module);
    if (!holds(parts, search.address)) return 0;
    search.found = parts;
    return 1;
}

/// The loader lists what it mapped for the program first, and never unloads it.
std::size_t g_at_start = 0;

int count(dl_phdr_info*, std::size_t, void* number) noexcept {
    ++*static_cast<std::size_t*>(number);
    return 0;
}

[[gnu::constructor]] void count_at_start() noexcept {
    dl_iterate_phdr(count, &g_at_start);
}

struct Place {
    std::uintptr_t address;
    std::size_t number;  // of modules that were looked at
};

int is_in(dl_phdr_info* module, std::size_t, void* argument) noexcept {
    auto& place = *static_cast<Place*>(argument);
    ++place.number;
    return holds(parts_of(*module), place.address) ? 1 : 0;
}

int tell_unloads(dl_phdr_info* module, std::size_t, void* number) noexcept {
    *static_cast<std::uint64_t*>(number) = module->dlpi_subs;
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

bool may_be_unloaded(void const* address) noexcept {
    Place place{reinterpret_cast<std::uintptr_t>(address), 0};
    return dl_iterate_phdr(is_in, &place) != 0 && place.number > g_at_start;
}

std::uint64_t unloads() noexcept {
    std::uint64_t number = 0;
    dl_iterate_phdr(tell_unloads, &number);
    return number;
}

ModuleParts parts_of_module(void const* address) noexcept {
    Search search{reinterpret_cast<std::uintptr_t>(address), {}};
    dl_iterate_phdr(keep_if_it_holds, &search);
    return search.found;
}

ModuleParts parts_of_this_module() noexcept {
    return parts_of_module(reinterpret_cast<void const*>(&parts_of_this_module));
}

}  // namespace sluice::plugin
