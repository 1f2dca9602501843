// SPDX-License-Identifier: BSD-3-Clause
/// Calls of the kernel that change mappings, past every library that has put itself in their way: memory hooks of
/// communication libraries drop the fifth argument of mremap, and look for registrations in whatever is unmapped.
#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace sluice::kernel {

inline constexpr std::size_t k_huge_page = 2 << 20;
inline constexpr unsigned long k_leave_mapped = 4;  // MREMAP_DONTUNMAP, Linux 5.7

inline std::size_t page_size() noexcept {
    static auto const size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

inline std::uint64_t number_of(void const* address) noexcept {
    return reinterpret_cast<std::uint64_t>(address);
}

/// Moves pages to an address, in place of what is there.
inline bool remap(std::byte* from, std::size_t bytes, std::byte* to) noexcept {
    unsigned long const flags = MREMAP_MAYMOVE | MREMAP_FIXED;
    return syscall(SYS_mremap, from, bytes, bytes, flags, to) == static_cast<long>(number_of(to));
}

inline void unmap(std::byte* from, std::size_t bytes) noexcept {
    if (bytes != 0) syscall(SYS_munmap, from, bytes);
}

/// Ends what MADV_DONTFORK began: children of fork() have the pages.
inline void leave_to_children(std::byte* from, std::size_t bytes) noexcept {
    syscall(SYS_madvise, from, bytes, MADV_DOFORK);
}

/// Returns addresses without memory; null if there is no room. `where`: these or none; null: any.
inline std::byte* reserve(std::size_t bytes, std::byte* where = nullptr) noexcept {
    unsigned long const flags =
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (where != nullptr ? MAP_FIXED_NOREPLACE : 0);
    long const at = syscall(SYS_mmap, where, bytes, PROT_NONE, flags, -1, 0);
    return at == -1 ? nullptr : reinterpret_cast<std::byte*>(at);
}

/// Moves pages to free addresses, as far from a boundary of huge pages as they are: whole page tables can then change
/// their places, and huge pages stay huge. The range that they leave stays mapped, without pages. Null if there is no
/// room, and nothing has changed.
inline std::byte* move_away(std::byte* from, std::size_t bytes) noexcept {
    std::byte* const free = reserve(bytes + k_huge_page);
    if (free == nullptr) return nullptr;
    std::byte* const hint = free + (number_of(from) - number_of(free)) % k_huge_page;
    unmap(free, bytes + k_huge_page);
    // Where another thread has been faster the kernel chooses.
    unsigned long const flags = MREMAP_MAYMOVE | k_leave_mapped;
    long const at = syscall(SYS_mremap, from, bytes, bytes, flags, hint);
    return at == -1 ? nullptr : reinterpret_cast<std::byte*>(at);
}

}  // namespace sluice::kernel
