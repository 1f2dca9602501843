// SPDX-License-Identifier: BSD-3-Clause
/// The registration queue (Li et al. 2011, section 3.2): predictions in the order of their deadlines, one for each
/// signature, in a fixed number of places. A prediction stays while its range is registered, for the earliest deadline
/// of a region is that of all its signatures.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "memory/leased.hpp"
#include "memory/registration/predict/predictor.hpp"

namespace sluice::memory::registration {

/// A prediction, and when its registration must begin.
struct Due {
    Prediction prediction;
    Time begin{};        ///< latest begin that leaves time for this registration and for those behind it
    Time early{};        ///< when it may begin if that does not raise the peak: Margin
    bool waits = false;  ///< the message before has not come yet, and leaves time enough: no registration until then
    bool is_pending = false;  ///< it will be registered, at `begin`
    bool is_done = false;     ///< it was registered, or refused: not again before its next prediction
    bool is_missed = false;   ///< it was wrong; its range stays registered for a while (Prediction::kept_until)

    /// The next moment at which the helper must look whether the use has come.
    Time looked_at() const noexcept {
        return is_missed ? std::max(prediction.given_up, prediction.kept_until) : prediction.given_up;
    }
};

class DueQueue {
  public:
    static constexpr std::size_t k_capacity = 512;
    explicit DueQueue(Budget const& tables);

    /// Replaces the prediction of the same signature. A full queue forgets the one that is due last.
    void put(Prediction const& prediction, bool waits);
    bool erase(std::uint64_t signature);
    Due const* find(std::uint64_t signature) const noexcept;
    /// The earliest deadline of the predictions that `region` serves; Time::max() if there is none. Of one that waits
    /// it is the expected moment, for a message before will announce it in time, however early it comes.
    Time earliest(Range region) const noexcept;
    /// By deadline.
    std::span<Due> all() noexcept { return dues_; }
    std::span<Due const> all() const noexcept { return dues_; }

  private:
    LeasedVector<Due> dues_;
};

}  // namespace sluice::memory::registration
