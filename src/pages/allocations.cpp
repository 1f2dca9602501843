// SPDX-License-Identifier: BSD-3-Clause
// malloc and its relatives: large blocks get whole pages from libc's own allocator, so a block that is freed,
// resized or measured is what libc has made. With another allocator blocks are as that one makes them.
#include <malloc.h>
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "pages/allocator.hpp"
#include "pages/blocks.hpp"
#include "pages/hooks.hpp"
#include "pages/pages.hpp"

namespace sluice::pages {

namespace {

/// libc writes before each block its size and marks; this one tells that the block has a mapping of its own.
bool has_own_mapping(void const* block) noexcept {
    return (static_cast<std::size_t const*>(block)[-1] & 2) != 0;
}

bool begins_page(void const* block) noexcept {
    return reinterpret_cast<std::uintptr_t>(block) % page_size() == 0;
}

/// The size for which libc is asked; 0 if the block gets no whole pages.
std::size_t bytes_of_whole_block(Allocator const& behind, std::size_t size) noexcept {
    return size >= k_least_whole && behind.is_of_libc ? whole_pages(size) : 0;
}

void* make_whole(Allocator const& behind, std::size_t alignment, std::size_t size, std::size_t whole) noexcept {
    void* const block = behind.memalign(std::max(alignment, page_size()), whole);
    if (block != nullptr) blocks.add(block, size);
    return block;
}

/// Before a block is freed or resized. A block that holds no whole page has no guarded one.
void before_change_of(Allocator const& behind, void* block) noexcept {
    if (is_hooked()) [[unlikely]] {
        if (behind.usable_size == nullptr) return before_any_change();
        std::size_t const bytes = behind.usable_size(block);
        if (bytes >= page_size()) before_change(block, bytes);
    }
}

/// Returns whether the block was one of whole pages.
bool forget(Allocator const& behind, void* block) noexcept {
    return behind.is_of_libc && begins_page(block) && blocks.remove(block);
}

/// When libc unmaps a block, it takes the next one of this size from its heap, whose pages exist already. It would not
/// do so for blocks of whole pages, for which it needs a page more than it has then seen: so it sees it.
void let_libc_keep(Allocator const& behind, std::size_t bytes) noexcept {
    constexpr std::size_t k_most = 32 << 20;  // what libc always maps: DEFAULT_MMAP_THRESHOLD_MAX
    if (bytes < k_most) behind.free(behind.malloc(bytes + 2 * page_size()));
}

void release(Allocator const& behind, void* block) noexcept {
    bool const is_unmapped = forget(behind, block) && has_own_mapping(block);
    std::size_t const bytes = is_unmapped ? behind.usable_size(block) : 0;
    behind.free(block);
    if (is_unmapped) let_libc_keep(behind, bytes);
}

void* copied_to(Allocator const& behind, void* to, void* from, std::size_t size) noexcept {
    if (to == nullptr) return nullptr;
    std::memcpy(to, from, std::min(size, behind.usable_size(from)));
    release(behind, from);
    return to;
}

/// A block with a mapping of its own keeps its place in the page when libc moves the mapping, and a block that shrinks
/// stays where it is.
void* resize_whole(Allocator const& behind, void* block, std::size_t size, std::size_t whole) noexcept {
    if (!begins_page(block) || (!has_own_mapping(block) && whole > behind.usable_size(block)))
        return copied_to(behind, make_whole(behind, 0, size, whole), block, size);
    Block before{};
    bool const was_known = blocks.find(block, 1, &before);
    blocks.remove(block);
    void* const resized = behind.realloc(block, whole);
    if (resized == nullptr) {
        if (was_known) blocks.add(block, before.asked);
    } else if (begins_page(resized)) {
        blocks.add(resized, size);
    }
    return resized;
}

void* resize(void* block, std::size_t size) noexcept {
    Allocator const* const behind = allocator();
    if (is_early(block)) {
        void* const made = std::malloc(size);
        if (made != nullptr) std::memcpy(made, block, std::min(size, early_bytes_from(block)));
        return made;
    }
    before_change_of(*behind, block);
    if (std::size_t const whole = bytes_of_whole_block(*behind, size); whole != 0)
        return resize_whole(*behind, block, size, whole);
    Block before{};
    bool const was_known =
        begins_page(block) && behind->is_of_libc && blocks.find(block, 1, &before) && blocks.remove(block);
    void* const resized = behind->realloc(block, size);
    if (resized == nullptr && size != 0 && was_known) blocks.add(block, before.asked);
    return resized;
}

/// For the other functions of aligned memory.
void* make_aligned(std::size_t alignment, std::size_t size) noexcept {
    Allocator const* const behind = allocator();
    if (behind == nullptr || behind->memalign == nullptr) {
        errno = ENOMEM;
        return nullptr;
    }
    if (std::size_t const whole = bytes_of_whole_block(*behind, size); whole != 0)
        return make_whole(*behind, alignment, size, whole);
    return behind->memalign(alignment, size);
}

/// The child of a fork has one thread, and no other that could release the lock.
[[gnu::constructor]] void keep_blocks_over_forks() {
    pthread_atfork([] { blocks.lock(); }, [] { blocks.unlock(); }, [] { blocks.unlock(); });
}

}  // namespace

}  // namespace sluice::pages

using namespace sluice::pages;

extern "C" {

void* malloc(std::size_t size) noexcept {
    Allocator const* const behind = allocator();
    if (behind == nullptr) return early_memory(size);
    if (size < k_least_whole) [[likely]]
        return behind->malloc(size);
    std::size_t const whole = bytes_of_whole_block(*behind, size);
    return whole != 0 ? make_whole(*behind, 0, size, whole) : behind->malloc(size);
}

void free(void* block) noexcept {
    if (block == nullptr || is_early(block)) return;
    Allocator const* const behind = allocator();
    if (behind == nullptr) return;  // of the look-up, and what it frees is early
    before_change_of(*behind, block);
    release(*behind, block);
}

void* calloc(std::size_t count, std::size_t size) noexcept {
    Allocator const* const behind = allocator();
    std::size_t bytes = 0;
    bool const too_large = __builtin_mul_overflow(count, size, &bytes);
    if (behind == nullptr) return too_large ? nullptr : early_memory(bytes);
    std::size_t const whole = too_large ? 0 : bytes_of_whole_block(*behind, bytes);
    if (whole == 0) return behind->calloc(count, size);
    void* const block = make_whole(*behind, 0, bytes, whole);
    // What comes directly from the kernel is full of zeros, and touching it would make pages of it.
    if (block != nullptr && (!has_own_mapping(block) || behind->fills_blocks)) std::memset(block, 0, whole);
    return block;
}

void* realloc(void* block, std::size_t size) noexcept {
    return block == nullptr ? malloc(size) : resize(block, size);
}

void* reallocarray(void* block, std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return nullptr;
    }
    return realloc(block, bytes);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
    return make_aligned(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    return make_aligned(alignment, size);
}

void* valloc(std::size_t size) noexcept {
    return make_aligned(page_size(), size);
}

void* pvalloc(std::size_t size) noexcept {
    std::size_t const whole = whole_pages(std::max<std::size_t>(size, 1));
    return make_aligned(page_size(), whole != 0 ? whole : size);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) noexcept {
    if (alignment % sizeof(void*) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    int const error = errno;
    void* const made = make_aligned(alignment, size);
    errno = error;
    if (made == nullptr) return ENOMEM;
    *block = made;
    return 0;
}

}  // extern "C"
