// SPDX-License-Identifier: BSD-3-Clause
#include "support/labels.hpp"

#include <cstddef>
#include <cstring>

namespace sluice::bench {

namespace {

constexpr unsigned k_index_bits = 44;
constexpr std::uint64_t k_step = 0x9E3779B97F4A7C15ULL;

std::uint64_t origin_of(int rank, std::uint64_t index) {
    return (static_cast<std::uint64_t>(rank) + 1) << k_index_bits | index;
}

template <typename Word>
void for_each_word(std::uint64_t block_bytes, std::uint64_t origin, Word word) {
    std::uint64_t value = origin;
    std::uint64_t at = 0;
    for (; at + 8 <= block_bytes; at += 8, value += k_step)
        word(at, std::size_t{8}, value);
    if (at < block_bytes) word(at, static_cast<std::size_t>(block_bytes - at), value);
}

}  // namespace

void write_labels(Blocks blocks, int rank) {
    std::byte* block = static_cast<std::byte*>(blocks.data);
    for (std::uint64_t index = 0; index < blocks.count; ++index, block += blocks.block_bytes.count)
        for_each_word(blocks.block_bytes.count, origin_of(rank, index),
                      [block](std::uint64_t at, std::size_t bytes, std::uint64_t value) {
                          std::memcpy(block + at, &value, bytes);
                      });
}

std::uint64_t count_arrived(Blocks blocks, int rank, int ranks, Case const& map) {
    std::uint64_t arrived = 0;
    std::byte const* block = static_cast<std::byte const*>(blocks.data);
    for (std::uint64_t slot = 0; slot < blocks.count; ++slot, block += blocks.block_bytes.count) {
        std::uint64_t origin = 0;
        std::memcpy(&origin, block, 8);
        std::uint64_t const index = origin & ((std::uint64_t{1} << k_index_bits) - 1);
        std::uint64_t const from = (origin >> k_index_bits) - 1;  // if the origin is 0 this wraps, and the next test
                                                                  // fails
        if (from >= static_cast<std::uint64_t>(ranks) || index >= map.slots(static_cast<int>(from))) continue;
        if (map.destination(static_cast<int>(from), index) != Destination{rank, static_cast<std::int64_t>(slot)})
            continue;
        std::uint64_t wrong = 0;
        for_each_word(blocks.block_bytes.count, origin, [&](std::uint64_t at, std::size_t bytes, std::uint64_t value) {
            std::uint64_t found = value;  // bytes beyond the block's end remain equal
            std::memcpy(&found, block + at, bytes);
            wrong |= found ^ value;
        });
        if (wrong == 0) ++arrived;
    }
    return arrived;
}

std::uint64_t count_live(Case const& map, int rank) {
    std::uint64_t live = 0;
    for (std::uint64_t index = 0; index < map.slots(rank); ++index)
        if (map.destination(rank, index).rank >= 0) ++live;
    return live;
}

}  // namespace sluice::bench
