// SPDX-License-Identifier: BSD-3-Clause
/// Swaps bytes with another process of this node.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice::node {

/// Swaps `mine` with as many bytes at `theirs` of process `pid`. The bytes of `mine` go through `bounce`, at most
/// `bounce.size()` at once. Returns how many bytes are swapped, from the front; fewer than all if the kernel refuses or
/// the memory is not mapped. The bytes that are not swapped keep their values on both sides. Allocates nothing.
std::size_t swap_with_process(pid_t pid, std::span<std::byte> mine, std::uint64_t theirs,
                              std::span<std::byte> bounce) noexcept;

/// Returns the number of bytes read from the front of `theirs`; fewer than `to.size()` if the kernel refuses.
std::size_t read_from_process(pid_t pid, std::span<std::byte> to, std::uint64_t theirs) noexcept;
/// Returns the number of bytes written from the front of `from`; fewer than `from.size()` if the kernel refuses. Writes
/// nothing after them.
std::size_t write_to_process(pid_t pid, std::span<std::byte const> from, std::uint64_t theirs) noexcept;

}  // namespace sluice::node
