// SPDX-License-Identifier: BSD-3-Clause
/// For work that needs much stack, on a thread of the program, whose stack may be a small one: that of a fiber, or of a
/// thread that the program has made with little.
#pragma once

#include <cstddef>

namespace sluice::kernel {

/// Runs `action(argument)` on this thread, on a stack of its own that is gone afterwards. Returns false without memory
/// for it: then nothing was run.
bool on_own_stack(std::size_t stack_bytes, void (*action)(void*) noexcept, void* argument) noexcept;

}  // namespace sluice::kernel
