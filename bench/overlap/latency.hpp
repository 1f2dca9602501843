// SPDX-License-Identifier: BSD-3-Clause
/// The time of an 8-byte message, as a program calls MPI and straight in libmpi.
#pragma once

#include <vector>

#include "overlap/calls.hpp"

namespace sluice::bench {

struct LatencyPair {
    double program = 0;   ///< seconds of a message, one way, in a block of messages as a program sends them
    double straight = 0;  ///< the same in the next or the previous block, straight in libmpi
};

/// Collective over two ranks: blocks of some milliseconds by the two ways in turns; which is first alternates. The
/// result is that of rank 0. Throws std::runtime_error if a rank receives something else than was sent.
std::vector<LatencyPair> measure_latency(OverlapCalls const& program, OverlapCalls const& straight, int site,
                                         int pairs);

}  // namespace sluice::bench
