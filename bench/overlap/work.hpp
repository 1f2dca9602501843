// SPDX-License-Identifier: BSD-3-Clause
/// What the receiver computes: work that touches no data, and passes over the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice::bench {

/// Computes that many steps of a chain, each of which needs the one before, in registers. Returns the last one.
std::uint64_t compute(std::uint64_t steps);

struct PassResult {
    std::uint64_t sum = 0;    ///< of all words and of the bytes behind them: shows which bytes were read
    std::uint64_t state = 0;  ///< of the chain
};

/// Reads every word of the data once and in order, with that many steps of a chain for each word; 0 steps: a sum, as
/// fast as memory delivers. Bytes left over behind the last whole word are read, too.
PassResult pass_over(std::span<std::byte const> data, std::uint64_t steps_a_word);

/// Returns the number of steps that take a second: the most that was measured in some ten milliseconds, because other
/// work of the machine only makes it less.
double steps_a_second();

/// Keeps the compiler from leaving a computation out.
void keep(std::uint64_t result);

}  // namespace sluice::bench
