// SPDX-License-Identifier: BSD-3-Clause
/// What was measured of a machine by `sluice doctor --calibrate`, and its text in a file:
///
///     sluice calibration 1
///     processor = AMD EPYC 7763 64-Core Processor
///     cores = 2
///     mpi = Open MPI v4.1.4
///     roomy token = 1.22e-07 6.9e-07 4.5e-06            seconds a block of 64, 1024 and 16000 bytes
///     roomy packed = …
///     crowded token = …
///     crowded packed = …
///     sum = 8fb5cc60e0a60c9b                            of the lines before it
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::kernel {

struct Calibration {
    static constexpr std::array<std::uint64_t, 3> k_sizes{64, 1024, 16000};  ///< bytes
    /// Seconds of a block of each size on a rank.
    using Curve = std::array<float, k_sizes.size()>;
    struct Costs {
        Curve token{};   ///< of a block that changes its rank, by strategy token
        Curve packed{};  ///< of a block, packed, exchanged and unpacked in buffers that are kept
        bool operator==(Costs const&) const = default;
    };
    Costs roomy;    ///< as many ranks as processors
    Costs crowded;  ///< more ranks than processors
    bool operator==(Calibration const&) const = default;
};

/// The machine and the MPI that a calibration is for. No host is named.
struct CalibrationKey {
    std::string processor;  ///< its model
    unsigned cores = 0;
    std::string mpi;  ///< name and version
    bool operator==(CalibrationKey const&) const = default;
};

/// Costs outside these bounds are those of a damaged file, or of a machine that was halted meanwhile.
inline constexpr float k_least_block_seconds = 1e-10F;
inline constexpr float k_most_block_seconds = 1.0F;
bool is_plausible(Calibration const& calibration) noexcept;

std::string text_of(CalibrationKey const& key, Calibration const& calibration);
/// Fills `calibration` and returns an empty text, or returns why the text is none for `key`.
std::string parse(std::string_view text, CalibrationKey const& key, Calibration& calibration);

}  // namespace sluice::kernel
