// SPDX-License-Identifier: BSD-3-Clause
/// What the preload library libsluice-pages.so offers to the plugin: large allocations of the program have pages of
/// their own, and a hook is called before a call that changes pages.
///
///     malloc(1 MiB + 1)     |page|page| … |page|    begins with a page; the rest of the last page is unused
///                           ^                  ^
///                           given              asked size, rounded up to whole pages
///
/// The plugin finds the table by dlsym(RTLD_DEFAULT, sluice::pages::k_symbol); without the library there is none.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice::pages {

/// Allocations of this size and more get whole pages.
inline constexpr std::size_t k_least_whole = 256 << 10;

inline constexpr char k_symbol[] = "sluice_pages_1";

/// A block that a program has allocated.
struct Block {
    std::byte* begin;   ///< a page's first byte
    std::size_t asked;  ///< bytes that the program asked for; what follows in the last page is unused
};

/// The table; its functions may be called from any thread, and allocate nothing.
struct Interface {
    std::uint32_t version;  ///< 1
    std::uint32_t bytes;    ///< sizeof(Interface)

    /// `before_change` is called before pages of this range are freed, unmapped, moved, dropped, locked, protected or
    /// pinned. `from` null with `bytes` SIZE_MAX: any pages may be. Never from within itself, and outside all locks of
    /// the library; it may free. Null: none is called, which is so at the beginning.
    void (*set_hook)(void (*before_change)(void const* from, std::size_t bytes));
    /// `before_end` is called before the process ends without its destructors (_exit, quick_exit, abort), or becomes
    /// another program (execve).
    void (*set_end_hook)(void (*before_end)());

    /// Returns true if all pages that the range touches belong to one block of whole pages, and tells which.
    bool (*find)(void const* address, std::size_t bytes, Block* block);

    /// Changes with each call that may change a mapping or lock pages.
    std::uint64_t (*generation)();

    /// False if the program has an allocator of its own: blocks then are as that allocator makes them, and the hook is
    /// not called before free and realloc; pages that go back to the kernel are still told.
    bool (*gives_whole_pages)();
};

}  // namespace sluice::pages
