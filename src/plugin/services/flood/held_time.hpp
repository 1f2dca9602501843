// SPDX-License-Identifier: BSD-3-Clause
/// The time in which at least one send of this rank is held. Nonblocking sends are held several at once.
///
///     holds    |-----------|
///                   |-----------|          |---|
///     time     |################|          |###|
#pragma once

#include <cstdint>

#include "plugin/services/flood/hold_rule.hpp"

namespace sluice::plugin {

/// Not thread-safe.
class HeldTime {
  public:
    void begin(HoldRule::Time now) noexcept {
        if (number_++ == 0) since_ = now;
    }
    /// Returns the time since the first of the holds began, if this was the last; otherwise nothing is over yet.
    HoldRule::Duration end(HoldRule::Time now) noexcept {
        return --number_ == 0 ? now - since_ : HoldRule::Duration::zero();
    }

  private:
    std::uint64_t number_ = 0;
    HoldRule::Time since_;
};

}  // namespace sluice::plugin
