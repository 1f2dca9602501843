// SPDX-License-Identifier: BSD-3-Clause
/// Calls of the kernel that change mappings, past every library that has put itself in their way: memory hooks of
/// communication libraries drop the fifth argument of mremap, and look for registrations in whatever is unmapped. Where
/// they have to look, because pages leave an address that the library has seen, there are the hooked calls.
#pragma once

#include <dlfcn.h>
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
inline bool remap(std::byte* from, std::size_t bytes, std::byte* to, unsigned long more) noexcept {
    unsigned long const flags = MREMAP_MAYMOVE | MREMAP_FIXED | more;
    return syscall(SYS_mremap, from, bytes, bytes, flags, to) == static_cast<long>(number_of(to));
}

inline void unmap(std::byte* from, std::size_t bytes) noexcept {
    if (bytes != 0) syscall(SYS_munmap, from, bytes);
}

/// libc's functions, whose code the hooks of UCX and Open MPI have overwritten with a jump to theirs: these forget what
/// they have registered of the range. libsluice-pages.so, which hides from dlsym, is not called.
class HookedCalls {
  public:
    HookedCalls() noexcept
        : munmap_(reinterpret_cast<decltype(munmap_)>(dlsym(RTLD_DEFAULT, "munmap"))),
          madvise_(reinterpret_cast<decltype(madvise_)>(dlsym(RTLD_DEFAULT, "madvise"))) {}
    void unmap(std::byte* from, std::size_t bytes) const noexcept {
        if (bytes != 0) munmap_(from, bytes);
    }
    /// Pages that exist lose their content.
    void drop(std::byte* from, std::size_t bytes) const noexcept { madvise_(from, bytes, MADV_DONTNEED); }

  private:
    int (*munmap_)(void*, std::size_t);
    int (*madvise_)(void*, std::size_t, int);
};

/// Returns addresses without memory; null if there is no room.
inline std::byte* reserve(std::size_t bytes) noexcept {
    unsigned long const flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    long const at = syscall(SYS_mmap, nullptr, bytes, PROT_NONE, flags, -1, 0);
    return at == -1 ? nullptr : reinterpret_cast<std::byte*>(at);
}

}  // namespace sluice::kernel
