// SPDX-License-Identifier: BSD-3-Clause
/// Prefetching for a write.
#pragma once

namespace sluice::redistribution {

/// Asks for a line that will be written: one that is fetched to be read, as __builtin_prefetch does without -mprfchw,
/// must be asked for again if another core has it. Every processor of 64 bits takes the instruction.
[[gnu::always_inline]] inline void fetch_to_write(void const* line) noexcept {
#ifdef __x86_64__
    asm volatile("prefetchw %0" : : "m"(*static_cast<char const*>(line)));
#else
    __builtin_prefetch(line, 1);
#endif
}

}  // namespace sluice::redistribution
