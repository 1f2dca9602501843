// SPDX-License-Identifier: BSD-3-Clause
/// What became of a rank whose record does not say how it ended.
#pragma once

#include <cstdint>

#include "record/record.hpp"

namespace sluice::report {

/// A rank gives a sign of life ten times a second; that of another node may reach us late, by its file system.
inline constexpr std::uint64_t k_silent_us = 120'000'000;

/// The state as the record has it, where it is final. Otherwise running or finalizing when its process lives; gone when
/// it does not, or when it cannot be asked and was silent for k_silent_us; else unknown. `now_unix_us`: of the reader.
record::State fate_of(record::RankHead const& head, std::uint64_t now_unix_us) noexcept;

/// Microseconds since 1970 of the last sign of life; 0 where there was none.
std::uint64_t last_sign_unix_us(record::RankHead const& head) noexcept;

std::uint64_t now_unix_us() noexcept;

}  // namespace sluice::report
