// SPDX-License-Identifier: BSD-3-Clause
/// The allocator behind this library.
#pragma once

#include <cstddef>

namespace sluice::pages {

struct Allocator {
    void* (*malloc)(std::size_t);
    void (*free)(void*);
    void* (*calloc)(std::size_t, std::size_t);
    void* (*realloc)(void*, std::size_t);
    void* (*memalign)(std::size_t, std::size_t);
    std::size_t (*usable_size)(void*);  ///< null if it does not tell
    /// Blocks are libc's, whose headers this library knows.
    bool is_of_libc;
    /// A block that comes directly from the kernel is not full of zeros (MALLOC_PERTURB_).
    bool fills_blocks;
};

/// The allocator, which is looked up at the first call; null while this thread looks it up.
Allocator const* allocator() noexcept;

/// True if the program's calls of malloc and free reach this library, and libc's allocator is behind it. Another one
/// may have functions of its own that free memory, such as operators of C++.
bool gives_whole_pages() noexcept;

/// Memory for what the look-up itself allocates; it is never freed. Null if there is no more.
void* early_memory(std::size_t bytes) noexcept;
bool is_early(void const* memory) noexcept;
/// Bytes from there to the end of all early memory, which are an upper bound for the block.
std::size_t early_bytes_from(void const* memory) noexcept;

}  // namespace sluice::pages
