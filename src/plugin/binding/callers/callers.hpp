// SPDX-License-Identifier: BSD-3-Clause
/// The place that called MPI: one in the program, also if the call came through bindings of another language or a
/// library that calls MPI for the program, whose functions would otherwise stand for all calls.
#pragma once

#include <cstdint>

#include "plugin/binding/plugin.hpp"

namespace sluice::plugin {

/// Notes where such code lies in memory, before MPI is initialized.
void find_wrapping_code() noexcept;
/// The same if `caller` is a return address in such code that the program has opened since. Not on two threads at once.
void find_new_wrapping_code(void const* caller) noexcept;

/// The caller behind code of `kind` that MPI returns to; `frame`: canonical frame address of the function it called.
void* caller_behind(WrappingCode::Kind kind, void* returns_to, void* frame) noexcept;

/// `returns_to`: return address of an exported function; `frame`: its canonical frame address. Gives a return address
/// in the program, or the address of a SeenThrough.
inline void* caller_of_program(void* returns_to, void* frame) noexcept {
    auto const kind = g_plugin.wrapping.kind_of(reinterpret_cast<std::uint64_t>(returns_to));
    if (kind == WrappingCode::Kind::none) [[likely]]
        return returns_to;
    return caller_behind(kind, returns_to, frame);
}

/// What `caller` stands for, if it is no return address; else null.
SeenThrough const* seen_through(void const* caller) noexcept;

}  // namespace sluice::plugin
