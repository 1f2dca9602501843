// SPDX-License-Identifier: BSD-3-Clause
#include "madre/experiment.hpp"

#include <string>

#include "sluice/error.hpp"

namespace sluice::bench {

namespace {
std::uint64_t live_blocks(int number, std::uint64_t blocks, std::uint64_t free_blocks) {
    switch (number) {
        case 1:
            return blocks;
        case 3:
            return blocks - free_blocks;
        case 4:
            return blocks;  // all but one process are full
        default:
            return blocks * 4 / 5;  // 20,000 of the paper's 25,000
    }
}
}  // namespace

Experiment::Experiment(int number, int ranks, std::uint64_t blocks, std::uint64_t free_blocks)
    : number_(number), ranks_(ranks), blocks_(blocks), live_(0) {
    if (number < 1 || number > 5)
        throw Error(ErrorCode::invalid_argument, "experiment " + std::to_string(number) + "; known are 1 to 5");
    if (ranks < 2)
        throw Error(ErrorCode::invalid_argument, std::to_string(ranks) + " ranks; an experiment needs at least 2");
    if (blocks < 2 || free_blocks >= blocks)
        throw Error(ErrorCode::invalid_argument, std::to_string(blocks) + " blocks a rank with " +
                                                     std::to_string(free_blocks) +
                                                     " of them free leave nothing to move");
    live_ = live_blocks(number, blocks, free_blocks);
}

std::uint64_t Experiment::live(int rank) const noexcept {
    return number_ == 4 && rank == 0 ? 0 : live_;
}

Destination Experiment::destination(int rank, std::uint64_t block) const noexcept {
    if (number_ == 4) return scattered(rank, block);
    if (number_ == 5) return transposed(rank, block);
    return to_the_next_rank(rank, block);
}

Destination Experiment::to_the_next_rank(int rank, std::uint64_t block) const noexcept {
    return {(rank + 1) % ranks_, static_cast<std::int64_t>(block)};
}

/// Block j goes to the (j mod (n - 1))-th rank after ours: all others get equal portions. Each receiver stores the
/// blocks from distance 1 first, then those from distance 2, and so on; distance k + 1 sends the blocks j with j mod (n
/// - 1) = k.
Destination Experiment::scattered(int rank, std::uint64_t block) const noexcept {
    std::uint64_t const others = static_cast<std::uint64_t>(ranks_) - 1;
    std::uint64_t const distance = block % others;  // the distance minus one
    std::uint64_t const full_portions = live_ / others;
    std::uint64_t const larger_portions = live_ % others;  // distances that get one block more
    std::uint64_t const before = distance * full_portions + (distance < larger_portions ? distance : larger_portions);
    auto const to = (static_cast<std::uint64_t>(rank) + 1 + distance) % static_cast<std::uint64_t>(ranks_);
    return {static_cast<int>(to), static_cast<std::int64_t>(before + block / others)};
}

/// By the paper's formula, block j of process i goes to position (mi + j)/n of process (mi + j) mod n, with m live
/// blocks.
Destination Experiment::transposed(int rank, std::uint64_t block) const noexcept {
    std::uint64_t const n = static_cast<std::uint64_t>(ranks_);
    std::uint64_t const line = live_ * static_cast<std::uint64_t>(rank) + block;
    return {static_cast<int>(line % n), static_cast<std::int64_t>(line / n)};
}

}  // namespace sluice::bench
