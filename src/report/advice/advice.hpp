// SPDX-License-Identifier: BSD-3-Clause
/// Advice that follows from a report, in plain words with numbers; the most pressing first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// Returns at least one and at most six pieces of advice, each one a sentence.
std::vector<std::string> advice_for(Summary const& summary);

/// A consumer of memory: an owner, or a place that calls MPI.
struct Consumer {
    std::string who;
    std::uint64_t bytes = 0;  ///< on the rank that has most
    std::uint32_t rank = 0;
    std::string how;
};

/// Returns all consumers that hold memory, the largest first.
std::vector<Consumer> consumers_of(Summary const& summary);

}  // namespace sluice::report
