// SPDX-License-Identifier: BSD-3-Clause
/// The bytes of a message: each byte depends on its place and on the round, so a byte of an older round is noticed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice::bench {

void write_pattern(std::span<std::byte> bytes, std::uint64_t round);

/// Returns the index of the first byte that differs from the pattern of that round; bytes.size() if none does.
std::size_t first_wrong_byte(std::span<std::byte const> bytes, std::uint64_t round);

}  // namespace sluice::bench
