// SPDX-License-Identifier: BSD-3-Clause
/// The arguments of sluice-bench-madre.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sluice/units.hpp"

namespace sluice::bench {

struct Options {
    int experiment = 1;
    std::uint64_t blocks = 64;
    std::uint64_t free_blocks = 0;
    std::uint64_t block_bytes = 16000;
    std::vector<std::string> methods;
    /// The paper's arrays have 25,000 blocks, these a few hundred. Spare slots must be as few in proportion, because
    /// they would add free space that the experiment does not have. 512 KiB is the least staging that still holds whole
    /// blocks.
    Bytes staging{512 << 10};
    std::string platform = "torus";

    /// Throws Error(invalid_argument) for an unknown argument.
    static Options from_arguments(std::span<char* const> arguments);
};

}  // namespace sluice::bench
