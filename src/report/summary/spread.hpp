// SPDX-License-Identifier: BSD-3-Clause
/// A figure that each rank may have, summed up over the ranks: constant size, merged in any order.
#pragma once

#include <cstdint>

namespace sluice::report {

struct Spread {
    std::uint64_t ranks = 0;  ///< the number of ranks that have the figure; if it is 0, everything else is 0
    std::uint64_t sum = 0;
    std::uint64_t least = 0;
    std::uint64_t most = 0;
    std::uint32_t least_rank = 0;  ///< the lowest rank, if several have the least value
    std::uint32_t most_rank = 0;

    static Spread of(std::uint64_t value, std::uint32_t rank) { return {1, value, value, value, rank, rank}; }

    void add(Spread const& other) {
        if (other.ranks == 0) return;
        if (ranks == 0) {
            *this = other;
            return;
        }
        ranks += other.ranks;
        sum += other.sum;
        if (other.least < least || (other.least == least && other.least_rank < least_rank)) {
            least = other.least;
            least_rank = other.least_rank;
        }
        if (other.most > most || (other.most == most && other.most_rank < most_rank)) {
            most = other.most;
            most_rank = other.most_rank;
        }
    }

    double mean() const { return ranks == 0 ? 0.0 : static_cast<double>(sum) / static_cast<double>(ranks); }

    bool operator==(Spread const&) const = default;
};

}  // namespace sluice::report
