// SPDX-License-Identifier: BSD-3-Clause
// Calls that change, lock or pin pages: the hook is called first, and what was seen of the mappings holds no longer.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>

#include "pages/hooks.hpp"
#include "pages/next.hpp"

namespace sluice::pages {

namespace {

/// Calls the next function of that kind after the hook.
template <class Result, class Function, class... Arguments>
Result pass(Next<Function>& next, Arguments... arguments) noexcept {
    Function* const function = next.get();
    if (function == nullptr) {
        errno = ENOSYS;
        return (Result)-1;
    }
    Result const result = function(arguments...);
    mappings_changed();
    return result;
}

void before_change_of(iovec const* ranges, std::size_t count) noexcept {
    if (!is_hooked()) return;
    for (std::size_t i = 0; i < count; ++i)
        before_change(ranges[i].iov_base, ranges[i].iov_len);
}

constinit Next<decltype(::mmap)> next_mmap("mmap");
constinit Next<int(void*, std::size_t)> next_munmap("munmap");
constinit Next<void*(void*, std::size_t, std::size_t, int, ...)> next_mremap("mremap");
constinit Next<int(void*, std::size_t, int)> next_madvise("madvise");
constinit Next<int(void*, std::size_t, int)> next_posix_madvise("posix_madvise");
constinit Next<int(void*, std::size_t, int)> next_mprotect("mprotect");
constinit Next<int(void*, std::size_t, int, int)> next_pkey_mprotect("pkey_mprotect");
constinit Next<int(void const*, std::size_t)> next_mlock("mlock");
constinit Next<int(void const*, std::size_t, unsigned)> next_mlock2("mlock2");
constinit Next<int(void const*, std::size_t)> next_munlock("munlock");
constinit Next<int(int)> next_mlockall("mlockall");
constinit Next<int()> next_munlockall("munlockall");
constinit Next<int(void*)> next_brk("brk");
constinit Next<void*(std::intptr_t)> next_sbrk("sbrk");
constinit Next<void*(int, void const*, int)> next_shmat("shmat");
constinit Next<int(void const*)> next_shmdt("shmdt");
constinit Next<int(std::size_t)> next_malloc_trim("malloc_trim");
constinit Next<ssize_t(int, iovec const*, std::size_t, unsigned)> next_vmsplice("vmsplice");
constinit Next<ssize_t(int, iovec const*, std::size_t, int, unsigned)> next_process_madvise("process_madvise");

/// Only a mapping that takes the place of another one changes pages.
void* map(void* address, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
    if ((flags & MAP_FIXED) != 0) before_change(address, bytes);
    auto* const function = next_mmap.get();
    void* const made = function(address, bytes, protection, flags, file, offset);
    if ((flags & (MAP_FIXED | MAP_LOCKED)) != 0) mappings_changed();
    return made;
}

}  // namespace

}  // namespace sluice::pages

using namespace sluice::pages;

// Memory hooks of communication libraries (UCX, Open MPI) look for functions by dlsym and overwrite their code with a
// jump. They would overwrite the ones below, which then were never reached. A symbol of an old version is what programs
// that are linked find, and what dlsym does not; so the hooks overwrite libc's functions, as without this library, and
// both are called.
#if defined(__x86_64__)
#define SLUICE_LIBC "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define SLUICE_LIBC "GLIBC_2.17"
#endif
#ifdef SLUICE_LIBC
#define SLUICE_HIDE_FROM_DLSYM(function) asm(".symver " #function ", " #function "@" SLUICE_LIBC ", remove")
SLUICE_HIDE_FROM_DLSYM(mmap);
SLUICE_HIDE_FROM_DLSYM(mmap64);
SLUICE_HIDE_FROM_DLSYM(munmap);
SLUICE_HIDE_FROM_DLSYM(mremap);
SLUICE_HIDE_FROM_DLSYM(madvise);
SLUICE_HIDE_FROM_DLSYM(mprotect);
SLUICE_HIDE_FROM_DLSYM(brk);
SLUICE_HIDE_FROM_DLSYM(sbrk);
SLUICE_HIDE_FROM_DLSYM(shmat);
SLUICE_HIDE_FROM_DLSYM(shmdt);
#endif

extern "C" {

void* mmap(void* address, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
    return map(address, bytes, protection, flags, file, offset);
}

void* mmap64(void* address, std::size_t bytes, int protection, int flags, int file, off64_t offset) noexcept {
    return map(address, bytes, protection, flags, file, offset);
}

int munmap(void* address, std::size_t bytes) noexcept {
    before_change(address, bytes);
    return pass<int>(next_munmap, address, bytes);
}

void* mremap(void* address, std::size_t bytes, std::size_t new_bytes, int flags, ...) noexcept {
    void* to = nullptr;
    if ((flags & ~MREMAP_MAYMOVE) != 0) {
        va_list more;
        va_start(more, flags);
        to = va_arg(more, void*);
        va_end(more);
        before_change(to, new_bytes);
    }
    before_change(address, bytes);
    return pass<void*>(next_mremap, address, bytes, new_bytes, flags, to);
}

int madvise(void* address, std::size_t bytes, int advice) noexcept {
    before_change(address, bytes);
    return pass<int>(next_madvise, address, bytes, advice);
}

int posix_madvise(void* address, std::size_t bytes, int advice) noexcept {
    before_change(address, bytes);
    return pass<int>(next_posix_madvise, address, bytes, advice);
}

int mprotect(void* address, std::size_t bytes, int protection) noexcept {
    before_change(address, bytes);
    return pass<int>(next_mprotect, address, bytes, protection);
}

int pkey_mprotect(void* address, std::size_t bytes, int protection, int key) noexcept {
    before_change(address, bytes);
    return pass<int>(next_pkey_mprotect, address, bytes, protection, key);
}

int mlock(void const* address, std::size_t bytes) noexcept {
    before_change(address, bytes);
    return pass<int>(next_mlock, address, bytes);
}

int mlock2(void const* address, std::size_t bytes, unsigned flags) noexcept {
    before_change(address, bytes);
    return pass<int>(next_mlock2, address, bytes, flags);
}

int munlock(void const* address, std::size_t bytes) noexcept {
    before_change(address, bytes);
    return pass<int>(next_munlock, address, bytes);
}

int mlockall(int flags) noexcept {
    before_any_change();
    return pass<int>(next_mlockall, flags);
}

int munlockall() noexcept {
    before_any_change();
    return pass<int>(next_munlockall);
}

int brk(void* end) noexcept {
    auto const* const now = static_cast<char const*>(sbrk(0));
    if (static_cast<char const*>(end) < now)
        before_change(end, static_cast<std::size_t>(now - static_cast<char const*>(end)));
    return pass<int>(next_brk, end);
}

void* sbrk(std::intptr_t more) noexcept {
    auto* const function = next_sbrk.get();
    if (more >= 0) return function(more);
    auto const* const now = static_cast<char const*>(function(0));
    before_change(now + more, static_cast<std::size_t>(-more));
    return pass<void*>(next_sbrk, more);
}

void* shmat(int segment, void const* address, int flags) noexcept {
    if ((flags & SHM_REMAP) != 0) before_any_change();  // how long the segment is, is not asked
    return pass<void*>(next_shmat, segment, address, flags);
}

int shmdt(void const* address) noexcept {
    return pass<int>(next_shmdt, address);
}

int malloc_trim(std::size_t pad) noexcept {
    before_any_change();
    return pass<int>(next_malloc_trim, pad);
}

ssize_t vmsplice(int file, iovec const* ranges, std::size_t count, unsigned flags) {
    before_change_of(ranges, count);
    return pass<ssize_t>(next_vmsplice, file, ranges, count, flags);
}

ssize_t process_madvise(int target, iovec const* ranges, std::size_t count, int advice, unsigned flags) noexcept {
    before_change_of(ranges, count);
    return pass<ssize_t>(next_process_madvise, target, ranges, count, advice, flags);
}

}  // extern "C"
