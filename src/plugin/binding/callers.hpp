// SPDX-License-Identifier: BSD-3-Clause
/// Who called MPI: the program, also where it came through the MPI's Fortran bindings, whose C functions would
/// otherwise stand for all of it.
#pragma once

#include <cstdint>

namespace sluice::plugin {

/// Addresses of the program text that belongs to Fortran bindings; empty until MPI_Init.
struct BindingsText {
    struct Range {
        std::uint64_t from = 0, to = 0;
    };
    static constexpr int k_ranges = 4;
    Range ranges[k_ranges];
    int count = 0;
};
extern BindingsText g_bindings;

/// Notes where the bindings lie in memory.
void find_bindings();

/// The caller behind a binding that returns to `binding`; `frame`: canonical frame address of the function it called.
void* caller_behind(void* binding, void* frame) noexcept;

/// `returns_to`: return address of an exported function; `frame`: its canonical frame address.
inline void* caller_beyond_bindings(void* returns_to, void* frame) noexcept {
    auto const address = reinterpret_cast<std::uint64_t>(returns_to);
    for (int i = 0; i < g_bindings.count; ++i)
        if (address >= g_bindings.ranges[i].from && address < g_bindings.ranges[i].to)
            return caller_behind(returns_to, frame);
    return returns_to;
}

}  // namespace sluice::plugin
