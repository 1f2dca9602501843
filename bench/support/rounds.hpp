// SPDX-License-Identifier: BSD-3-Clause
/// Times several methods in turns on one workload, checks every result, and measures the memory of each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "methods/method.hpp"

namespace sluice::bench {

/// The measurements of one method, the same on every rank.
struct Measured {
    MethodEntry const* entry = nullptr;
    std::vector<double> seconds;                 ///< one for each round, of the slowest rank
    std::vector<double> processor_seconds;       ///< one for each round, of all ranks together
    std::optional<std::uint64_t> counted_bytes;  ///< extra bytes by its own counter, on the worst rank
    std::uint64_t resident_bytes = 0;            ///< growth of VmHWM over the first call, on the worst rank
    std::uint64_t standing_bytes = 0;            ///< growth of Pss that remains after the first call, on the worst rank
    std::uint64_t extra_bytes() const { return std::max(counted_bytes.value_or(0), resident_bytes); }
};

/// Called before a method runs and, with null, after it has returned: for code that watches the clock.
using Watch = void (*)(MethodEntry const* running);

/// Collective. First every method runs once, cold, to measure its memory; then one round warms up; then there are
/// `rounds` rounds, in each of which every method runs once, in the given order (A B A B …). Labels are written before
/// each run and checked after it, both untimed. Throws Error(internal) on every rank if a result is wrong.
std::vector<Measured> measure_in_turns(Workload const& workload, std::vector<MethodEntry const*> const& chosen,
                                       int rounds, Watch watch);

}  // namespace sluice::bench
