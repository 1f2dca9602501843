// SPDX-License-Identifier: BSD-3-Clause
#include "madre/block_mark.hpp"

#include <algorithm>
#include <cstring>

namespace sluice::bench {

namespace {

struct Origin {
    std::uint64_t rank;
    std::uint64_t index;
};

std::uint64_t word_of(Origin const& origin, std::uint64_t position) {
    return (origin.rank << 32 | origin.index) * 0x9e3779b97f4a7c15ULL + position;
}

/// The first two words are the origin itself, and the rest is computed from it; a shorter block holds the part that
/// fits.
void write(std::span<std::byte> block, Origin const& origin) {
    for (std::size_t at = 0; at < block.size(); at += 8) {
        std::uint64_t const word = at == 0 ? origin.rank : at == 8 ? origin.index : word_of(origin, at);
        std::memcpy(block.data() + at, &word, std::min<std::size_t>(8, block.size() - at));
    }
}

bool is_whole(std::span<std::byte const> block, Origin const& origin) {
    for (std::size_t at = 16; at < block.size(); at += 8) {
        std::uint64_t const word = word_of(origin, at);
        if (std::memcmp(block.data() + at, &word, std::min<std::size_t>(8, block.size() - at)) != 0) return false;
    }
    return true;
}

}  // namespace

void mark_block(std::span<std::byte> block, int rank, std::uint64_t index) {
    write(block, {static_cast<std::uint64_t>(rank), index});
}

std::uint64_t check_arrivals(Experiment const& experiment, int rank, std::span<std::byte const> array,
                             std::uint64_t block_bytes) {
    std::uint64_t arrived = 0;
    for (std::uint64_t slot = 0; slot < experiment.blocks(); ++slot) {
        std::span<std::byte const> const block = array.subspan(slot * block_bytes, block_bytes);
        Origin origin{};
        std::memcpy(&origin, block.data(), sizeof origin);
        if (origin.rank >= static_cast<std::uint64_t>(experiment.ranks())) continue;
        int const from = static_cast<int>(origin.rank);
        if (origin.index >= experiment.live(from)) continue;
        // A block that was left behind in a slot that is free now has not arrived; a block that should be in a slot and
        // is not there is missing.
        bool const belongs_here =
            experiment.destination(from, origin.index) == Destination{rank, static_cast<std::int64_t>(slot)};
        if (belongs_here && is_whole(block, origin)) ++arrived;
    }
    return arrived;
}

}  // namespace sluice::bench
