// SPDX-License-Identifier: BSD-3-Clause
/// Adds the blocks that a strategy has moved to the report.
#pragma once

#include <cstdint>

#include "sluice/redistribute.hpp"

namespace sluice::redistribution {

inline void count_sent(RedistributionReport& report, std::uint64_t blocks, std::uint64_t block_bytes) {
    report.blocks_sent += blocks;
    report.bytes_sent += Bytes{blocks} * block_bytes;
}

inline void count_received(RedistributionReport& report, std::uint64_t blocks, std::uint64_t block_bytes) {
    report.blocks_received += blocks;
    report.bytes_received += Bytes{blocks} * block_bytes;
}

/// Counts blocks copied inside this rank.
inline void count_copied(RedistributionReport& report, std::uint64_t blocks, std::uint64_t block_bytes) {
    report.blocks_local += blocks;
    report.bytes_local += Bytes{blocks} * block_bytes;
}

}  // namespace sluice::redistribution
