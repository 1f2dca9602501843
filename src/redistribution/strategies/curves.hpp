// SPDX-License-Identifier: BSD-3-Clause
/// What a block costs inside one node, by its size: measured by `sluice doctor --calibrate`, or built in.
///
///     seconds         token, a block that changes its rank
///        |       .-'  packed copies, a block that moves
///        |   .-'
///        |--'
///        +---+-------+----> bytes: a line in logarithms between three sizes
#pragma once

#include <array>
#include <cstdint>

#include "groups/agreement.hpp"
#include "kernel/calibration/calibration.hpp"

namespace sluice::redistribution {

struct Curves {
    kernel::Calibration::Curve token{};
    kernel::Calibration::Curve packed{};
    bool is_measured = false;
};

/// Seconds of a block of so many bytes. Below the smallest size a block costs as much as one of that size, above the
/// largest as much as its bytes.
double seconds_of(kernel::Calibration::Curve const& curve, std::uint64_t bytes) noexcept;

/// The curves in force for as many ranks as processors, or for more (`is_crowded`). The file is read at the first call;
/// one that cannot be used is told on standard error, once.
Curves curves_of_this_machine(bool is_crowded) noexcept;

/// Makes the curves of rank 0 those of all ranks, so that nodes of two types choose alike.
class AgreedCurves {
  public:
    /// `mine`: all zero on all ranks but 0. The agreement runs before get().
    AgreedCurves(groups::Agreement& agreement, Curves const& mine);
    Curves get() const noexcept;

  private:
    static constexpr std::size_t k_words = 4;
    std::array<std::uint64_t const*, k_words> agreed_{};
};

}  // namespace sluice::redistribution
