// SPDX-License-Identifier: BSD-3-Clause
/// Finds out how a rank ended if its record does not say so.
#pragma once

#include <cstdint>

#include "record/record.hpp"

namespace sluice::report {

/// A rank gives a sign of life ten times a second; the signs of another node may arrive late, through its file system.
inline constexpr std::uint64_t k_silent_us = 120'000'000;

/// Returns the recorded state if it is final. Otherwise running or finalizing if the process lives; gone if it does
/// not, or if it cannot be queried and was silent for k_silent_us; else unknown. `now_unix_us`: the reader's clock.
record::State fate_of(record::RankHead const& head, std::uint64_t now_unix_us) noexcept;

/// Microseconds since 1970 of the last sign of life; 0 if there was none.
std::uint64_t last_sign_unix_us(record::RankHead const& head) noexcept;

std::uint64_t now_unix_us() noexcept;

}  // namespace sluice::report
