// SPDX-License-Identifier: BSD-3-Clause
#include "memory/registration/predict/periodicity_predictor.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace sluice::memory::registration {

PeriodicityPredictor::PeriodicityPredictor(std::size_t window, Budget const& tables)
    : window_(std::max<std::size_t>(window, 4), LeasedAllocator<Past>(tables)) {}

void PeriodicityPredictor::learn(Event const& use, std::vector<Prediction>& predictions) {
    base::Fnv1a hash;
    for (std::uintptr_t const frame : use.frames)
        hash.add(static_cast<std::uint64_t>(frame));
    hash.add(static_cast<std::uint64_t>(use.range.begin)).add(static_cast<unsigned char>(use.kind));
    window_[learnt_++ % window_.size()] = {hash.value(), use.at};
    std::optional<std::size_t> const period = pattern();
    if (!period) return;
    // One pattern ago was the same use; the next one of its kind followed it after the time that is predicted.
    Past const& same = past(*period);
    for (std::size_t back = *period; back-- > 0;) {
        if (past(back).id != hash.value()) continue;
        Time const until = past(back).at - same.at;
        Prediction next;
        next.signature = hash.value();
        next.range = use.range;
        next.expected = next.deadline = use.at + until;
        next.given_up = use.at + until + until / 8;
        next.period = until;
        predictions.push_back(next);
        return;
    }
}

/// The shortest shift by which the window is the same as itself; half of the window is compared at least.
std::optional<std::size_t> PeriodicityPredictor::pattern() const noexcept {
    if (learnt_ < window_.size()) return std::nullopt;
    for (std::size_t shift = 1; shift <= window_.size() / 2; ++shift) {
        bool is_same = true;
        for (std::size_t back = 0; is_same && back + shift < window_.size(); ++back)
            is_same = past(back).id == past(back + shift).id;
        if (is_same) return shift;
    }
    return std::nullopt;
}

}  // namespace sluice::memory::registration
