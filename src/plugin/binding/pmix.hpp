// SPDX-License-Identifier: BSD-3-Clause
/// The little of PMIx that declarations need, spoken to the very library that the MPI uses: never loaded by us, never
/// initialised by us.
///
/// Types as in the PMIx standard, the same in versions 3 to 5; declared here because an MPI may come without the header
/// (tests/plugin/nodes compares them with it).
#pragma once

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

}  // namespace sluice::plugin::pmix
