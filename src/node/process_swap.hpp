// SPDX-License-Identifier: BSD-3-Clause
/// Swaps bytes with another process of this node: what was ours is its, what was its is ours.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice::node {

/// Swaps `mine` with as many bytes at `theirs` of process `pid`, by way of `bounce`, which holds the bytes of ours that
/// are on their way: at most `bounce.size()` at a time. Returns how many bytes are swapped, from the front; fewer than
/// all where the kernel refuses or the memory is not there. What is not swapped is what it was, on both sides.
/// Allocates nothing.
std::size_t swap_with_process(pid_t pid, std::span<std::byte> mine, std::uint64_t theirs,
                              std::span<std::byte> bounce) noexcept;

/// Bytes read from the front of `theirs`; fewer than `to.size()` where the kernel refuses.
std::size_t read_from_process(pid_t pid, std::span<std::byte> to, std::uint64_t theirs) noexcept;
/// Bytes written from the front of `from`; fewer than `from.size()` where the kernel refuses. No others are touched.
std::size_t write_to_process(pid_t pid, std::span<std::byte const> from, std::uint64_t theirs) noexcept;

}  // namespace sluice::node
