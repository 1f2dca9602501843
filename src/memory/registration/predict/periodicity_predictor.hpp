// SPDX-License-Identifier: BSD-3-Clause
/// The periodicity-based predictor that the published one is compared with (Li et al. 2011, section 3.1, after Freitag
/// et al. 2003): it looks for a pattern in the whole stream of uses.
///
///     window   a b c a b c a b c     shifted by 3 it is the same: a pattern of period 3, so `a` comes next, when it
///                    a b c a b c     came after `c` one pattern ago
///
/// It needs a full window, and a change of the stream makes it blind until the window has passed. Does not allocate
/// after the constructor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "memory/leased.hpp"
#include "memory/registration/predict/predictor.hpp"

namespace sluice::memory::registration {

class PeriodicityPredictor : public Predictor {
  public:
    /// `window` uses are compared, at least 4; patterns have up to half of them.
    PeriodicityPredictor(std::size_t window, Budget const& tables);

    void learn(Event const& use, std::vector<Prediction>& predictions) override;
    void missed(std::uint64_t) override {}

  private:
    struct Past {
        std::uint64_t id = 0;
        Time at{};
    };
    Past const& past(std::size_t back) const noexcept { return window_[(learnt_ - 1 - back) % window_.size()]; }
    std::optional<std::size_t> pattern() const noexcept;

    LeasedVector<Past> window_;
    std::uint64_t learnt_ = 0;
};

}  // namespace sluice::memory::registration
