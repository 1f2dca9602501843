// SPDX-License-Identifier: BSD-3-Clause
/// When a range is used next: the interface of the predictors, which learn from uses and nothing else.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/registration/event.hpp"

namespace sluice::memory::registration {

/// That a range will be used. A later prediction with the same signature replaces it.
struct Prediction {
    std::uint64_t signature = 0;
    Range range;
    Time expected{};    ///< the most likely moment, by which predictions are judged
    Time deadline{};    ///< the range must be registered by then; not after `expected`
    Time given_up{};    ///< no use until then: the prediction was wrong
    Time kept_until{};  ///< until then the range stays registered all the same, if that is later: all may be held up
    Time period{};      ///< from one use of the signature to the next
    Time lead{};        ///< a message before will tell the moment again, as a rule so long before the use; 0: none will
    bool follows = false;   ///< it is told again by such a message, which was not of this range
    bool is_guess = false;  ///< one period was seen, or the last prediction was wrong
};

class Predictor {
  public:
    virtual ~Predictor() = default;
    /// Learns from a use that begins, and puts into `predictions`, which is empty, what follows from it: when the range
    /// is used next, if that is known, and when ranges are that follow this use. Allocates nothing once its table is
    /// full.
    virtual void learn(Event const& use, std::vector<Prediction>& predictions) = 0;
    /// Tells that a prediction has been given up: the use did not come.
    virtual void missed(std::uint64_t signature) = 0;
};

}  // namespace sluice::memory::registration
