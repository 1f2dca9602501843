// SPDX-License-Identifier: BSD-3-Clause
/// What is loaded; and the module that this code is in, as the loader mapped it: the plugin, or the program of a unit
/// test.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice::plugin {

/// A part of the module's file with its access, and what follows it in memory without a file (bss).
struct ModulePart {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    bool writable = false;
};

struct ModuleParts {
    std::array<ModulePart, 8> parts{};  ///< linkers make four or five
    std::size_t count = 0;
};

/// Of the module that has this address; empty if none has. Does not allocate.
ModuleParts parts_of_module(void const* address) noexcept;
ModuleParts parts_of_this_module() noexcept;

/// Whether a library is loaded whose file's name begins so. Does not allocate.
bool has_module(char const* name) noexcept;

/// Whether the code at the address may be unloaded: the program has opened its library (dlopen) since the process
/// began.
bool may_be_unloaded(void const* address) noexcept;
/// Libraries that were unloaded so far. A twentieth of a microsecond.
std::uint64_t unloads() noexcept;

}  // namespace sluice::plugin
