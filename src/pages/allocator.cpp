// SPDX-License-Identifier: BSD-3-Clause
#include "pages/allocator.hpp"

#include <dlfcn.h>
#include <gnu/libc-version.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "pages/blocks.hpp"
#include "pages/pages.hpp"

extern "C" char** environ;

namespace sluice::pages {

namespace {

constinit Allocator found{};
constinit std::atomic<bool> is_found{false};
constinit thread_local bool t_looks = false;

constexpr std::size_t k_early_bytes = 64 << 10;
alignas(16) constinit unsigned char early[k_early_bytes];
constinit std::atomic<std::size_t> early_used{0};

template <class Function>
void look_up(Function*& function, char const* name) noexcept {
    function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void const* object_of(void const* address) noexcept {
    Dl_info info{};
    return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

bool libc_has(void const* function) noexcept {
    return object_of(function) == object_of(reinterpret_cast<void const*>(&gnu_get_libc_version));
}

/// getenv may not be ready yet.
bool environment_fills_blocks() noexcept {
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
        if (std::strncmp(*entry, "MALLOC_PERTURB_=", 16) == 0 ||
            (std::strncmp(*entry, "GLIBC_TUNABLES=", 15) == 0 && std::strstr(*entry, "perturb") != nullptr))
            return true;
    return false;
}

/// Threads that come at the same time find the same.
void look() noexcept {
    Allocator all{};
    look_up(all.malloc, "malloc");
    look_up(all.free, "free");
    look_up(all.calloc, "calloc");
    look_up(all.realloc, "realloc");
    look_up(all.memalign, "memalign");
    look_up(all.usable_size, "malloc_usable_size");
    void const* const own = reinterpret_cast<void const*>(all.malloc);
    all.is_of_libc = libc_has(own) && all.memalign != nullptr && all.usable_size != nullptr &&
                     libc_has(reinterpret_cast<void const*>(all.memalign)) &&
                     libc_has(reinterpret_cast<void const*>(all.free));
    all.fills_blocks = environment_fills_blocks();
    if (is_found.load(std::memory_order_acquire)) return;
    static constinit std::atomic<bool> writes{false};
    if (writes.exchange(true)) {
        while (!is_found.load(std::memory_order_acquire)) {
        }
        return;
    }
    found = all;
    is_found.store(true, std::memory_order_release);
}

}  // namespace

Allocator const* allocator() noexcept {
    if (!is_found.load(std::memory_order_acquire)) [[unlikely]] {
        if (t_looks) return nullptr;
        t_looks = true;
        look();
        t_looks = false;
    }
    return &found;
}

/// Addresses tell nothing: in a program that has the address of `free` in its code and a fixed place (Debian's
/// python3), that is an entry of its own, which jumps to ours. So a block is made and freed.
bool gives_whole_pages() noexcept {
    Allocator const* const behind = allocator();
    if (behind == nullptr || !behind->is_of_libc) return false;
    void* (*make)(std::size_t) = nullptr;
    void (*end)(void*) = nullptr;
    make = reinterpret_cast<decltype(make)>(dlsym(RTLD_DEFAULT, "malloc"));
    end = reinterpret_cast<decltype(end)>(dlsym(RTLD_DEFAULT, "free"));
    if (make == nullptr || end == nullptr) return false;
    void* const tried = make(k_least_whole);
    if (tried == nullptr) return false;
    Block block{};
    bool const is_made = blocks.find(tried, 1, &block);
    end(tried);
    return is_made && !blocks.find(tried, 1, &block);
}

void* early_memory(std::size_t bytes) noexcept {
    if (bytes > k_early_bytes) return nullptr;
    std::size_t const at = early_used.fetch_add((bytes + 15) / 16 * 16, std::memory_order_relaxed);
    return at + bytes <= k_early_bytes ? early + at : nullptr;
}

bool is_early(void const* memory) noexcept {
    auto const at = reinterpret_cast<std::uintptr_t>(memory);
    auto const begin = reinterpret_cast<std::uintptr_t>(early);
    return at >= begin && at < begin + k_early_bytes;
}

std::size_t early_bytes_from(void const* memory) noexcept {
    return reinterpret_cast<std::uintptr_t>(early) + k_early_bytes - reinterpret_cast<std::uintptr_t>(memory);
}

}  // namespace sluice::pages
