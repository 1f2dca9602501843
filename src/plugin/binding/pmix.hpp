// SPDX-License-Identifier: BSD-3-Clause
/// The little of PMIx that declarations and fatal errors need, spoken to the very library that the MPI uses: never
/// loaded by us, never initialised by us.
///
/// Types as in the PMIx standard, the same in versions 3 to 5; declared here because an MPI may come without the header
/// (tests/plugin/nodes compares them with it).
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>

namespace sluice::plugin::pmix {

inline constexpr int k_success = 0;
inline constexpr int k_not_supported = -47;
inline constexpr std::uint8_t k_global = 3;
inline constexpr std::uint16_t k_bool = 1;
inline constexpr std::uint16_t k_uint32 = 14;
inline constexpr char k_immediate[] = "pmix.immediate";  // do not wait: what your server has now, or an error

struct Proc {
    char nspace[256] = {};
    std::uint32_t rank = 0;
};

struct Value {
    std::uint16_t type = 0;
    union {
        bool flag;
        std::uint32_t uint32;
        void* room[3];
    } data{};
};

struct Info {
    char key[512] = {};
    std::uint32_t flags = 0;
    Value value;
};

using Commit = int (*)();
using Put = int (*)(std::uint8_t scope, char const key[], Value* value);
using Get = int (*)(Proc const* proc, char const key[], Info const info[], std::size_t infos, Value** value);
using Abort = int (*)(int status, char const message[], Proc procs[], std::size_t count);

/// The loaded library that an address is in, to be closed by dlclose(); null if there is none.
inline void* library_of(void const* address) {
    Dl_info where{};
    if (dladdr(address, &where) == 0 || where.dli_fname == nullptr) return nullptr;
    return dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/// The PMIx below a library, for there may be several in a process: that which the library is linked to.
template <class Function>
Function below(void* library, char const* name) {
    void* found = library != nullptr ? dlsym(library, name) : nullptr;
    return reinterpret_cast<Function>(found);
}

}  // namespace sluice::plugin::pmix
