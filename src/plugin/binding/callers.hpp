// SPDX-License-Identifier: BSD-3-Clause
/// The place that called MPI: one in the program, also if the call came through the MPI's Fortran bindings, whose C
/// functions would otherwise stand for all calls.
#pragma once

#include <cstdint>

#include "plugin/binding/plugin.hpp"

namespace sluice::plugin {

/// Notes where the bindings lie in memory.
void find_bindings();

/// The caller behind a binding that returns to `binding`; `frame`: canonical frame address of the function it called.
void* caller_behind(void* binding, void* frame) noexcept;

/// `returns_to`: return address of an exported function; `frame`: its canonical frame address.
inline void* caller_beyond_bindings(void* returns_to, void* frame) noexcept {
    auto const address = reinterpret_cast<std::uint64_t>(returns_to);
    BindingsText const& bindings = g_plugin.bindings;
    for (int i = 0; i < bindings.count; ++i)
        if (address >= bindings.ranges[i].from && address < bindings.ranges[i].to)
            return caller_behind(returns_to, frame);
    return returns_to;
}

}  // namespace sluice::plugin
