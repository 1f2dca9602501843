// SPDX-License-Identifier: BSD-3-Clause
/// Finds out how a rank ended: by what it wrote itself, by what the rank that watched it saw, or by its process.
#pragma once

#include <cstdint>
#include <optional>

#include "record/record.hpp"

namespace sluice::report {

/// A rank gives a sign of life ten times a second; the signs of another node may arrive late, through its file system.
inline constexpr std::uint64_t k_silent_us = 120'000'000;

/// Returns the recorded state if it is final. Otherwise running or finalizing if the process lives; gone if another
/// rank has seen its end, if it does not live, or if it cannot be queried and was silent for k_silent_us; else unknown.
/// `now_unix_us`: the reader's clock.
record::State fate_of(record::RankHead const& head, std::uint64_t now_unix_us) noexcept;

/// The ways in which ranks end that do not end in order.
enum class How : std::uint32_t {
    aborted,  ///< it called MPI_Abort
    exited,   ///< without MPI_Finalize
    killed,   ///< by a signal, that of abort() included
    failed,   ///< an error of MPI was fatal
    unknown   ///< one of these
};

struct RankEnd {
    How how = How::unknown;
    std::optional<std::int64_t>
        code;  ///< of MPI_Abort or of the error, the exit code, or the number of the signal; none: not known
    std::uint64_t unix_us = 0;  ///< when; of an end of which nothing is known, the last sign of life
};

/// Returns how a rank ended whose head has the state that fate_of() gives; nothing if it has not ended, or ended in
/// order. What the rank says of MPI_Abort and of the time stands before what was seen from outside.
std::optional<RankEnd> end_of(record::RankHead const& head) noexcept;

/// Microseconds since 1970 of the last sign of life; 0 if there was none.
std::uint64_t last_sign_unix_us(record::RankHead const& head) noexcept;

std::uint64_t now_unix_us() noexcept;

}  // namespace sluice::report
