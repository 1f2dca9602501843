// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/alltoall/trials.hpp"

#include <algorithm>

#include "collectives/alltoall/rule.hpp"

namespace sluice::collectives {

Trials::Trials(Facts const& facts) {
    for (AlgorithmEntry const& entry : algorithms())
        if (is_candidate(entry, facts)) tried_.at(count_++) = entry.id;
}

bool Trials::take(double seconds) noexcept {
    nanoseconds_[calls_++] = static_cast<std::uint64_t>(std::max(0.0, seconds * 1e9));
    return calls_ == count_ * k_turns;
}

AlltoallAlgorithm Trials::decide(Maxima const& maxima) {
    maxima(std::span(nanoseconds_).first(calls_));
    AlltoallAlgorithm best = tried_[0];
    double least = 0;
    for (std::size_t i = 0; i < count_; ++i) {
        std::uint64_t fastest = nanoseconds_[i];
        for (std::size_t turn = 1; turn < k_turns; ++turn)
            fastest = std::min(fastest, nanoseconds_[turn * count_ + i]);
        double const cost = static_cast<double>(fastest) * (tried_[i] == AlltoallAlgorithm::plain ? k_margin : 1);
        if (i == 0 || cost < least) {
            best = tried_[i];
            least = cost;
        }
    }
    return best;
}

}  // namespace sluice::collectives
