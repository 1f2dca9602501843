// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/local_moves.hpp"

#include <algorithm>

namespace sluice::redistribution {

LocalMoves::LocalMoves(std::uint64_t slots, memory::Meter& meter)
    : from_(slots, k_nothing, memory::MeteredAllocator<std::uint64_t>(meter)), first_(k_nothing), last_(0) {}

void LocalMoves::add(std::uint64_t from, std::uint64_t to) noexcept {
    from_[to] = (from_[to] & k_leaves) | from;
    from_[from] |= k_leaves;
    first_ = std::min({first_, from, to});
    last_ = std::max({last_, from, to});
}

void LocalMoves::clear() noexcept {
    std::fill(from_.begin(), from_.end(), k_nothing);
    first_ = k_nothing;
    last_ = 0;
}

}  // namespace sluice::redistribution
