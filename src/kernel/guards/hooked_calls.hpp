// SPDX-License-Identifier: BSD-3-Clause
/// libc's functions, whose code the memory hooks of UCX and Open MPI have overwritten with a jump to theirs: a call
/// makes them forget what they have registered of the range. libsluice-pages.so, which hides from dlsym, is not called.
#pragma once

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace sluice::kernel {

class HookedCalls {
  public:
    /// For addresses that are mapped.
    void unmap(std::byte* from, std::size_t bytes) const noexcept {
        if (bytes != 0) munmap_(from, bytes);
    }
    /// Pages that exist lose their content.
    void drop(std::byte* from, std::size_t bytes) const noexcept { madvise_(from, bytes, MADV_DONTNEED); }

  private:
    static int plain_munmap(void* from, std::size_t bytes) noexcept {
        return static_cast<int>(syscall(SYS_munmap, from, bytes));
    }
    static int plain_madvise(void* from, std::size_t bytes, int advice) noexcept {
        return static_cast<int>(syscall(SYS_madvise, from, bytes, advice));
    }
    template <class Function>
    static Function* of_libc(char const* name, Function* otherwise) noexcept {
        void* const found = dlsym(RTLD_DEFAULT, name);
        return found != nullptr ? reinterpret_cast<Function*>(found) : otherwise;
    }

    int (*munmap_)(void*, std::size_t) = of_libc<int(void*, std::size_t)>("munmap", plain_munmap);
    int (*madvise_)(void*, std::size_t, int) = of_libc<int(void*, std::size_t, int)>("madvise", plain_madvise);
};

}  // namespace sluice::kernel
