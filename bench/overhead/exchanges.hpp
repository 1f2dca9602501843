// SPDX-License-Identifier: BSD-3-Clause
/// Exchanges that programs make with MPI, chosen for measuring the cost of watching.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "overhead/calls.hpp"

namespace sluice::bench {

struct Exchange {
    std::string name;
    int bytes = 0;  ///< of a message
    int parts = 1;  ///< a round's time is divided by this: 2 one-way messages in a ping-pong
    std::function<void(Calls&, int rounds)> run;
    std::function<bool()> right;  ///< after `run`: returns whether this rank received what was sent
};

struct ExchangeKind {
    char const* name;
    int bytes;
    Exchange (*make)(int rank, int ranks, int bytes);
};

/// Returns the exchanges that are measured:
///   pingpong   one-way time between ranks 0 and 1; other ranks do nothing
///   halo       rows to and from both neighbours in a line by Irecv, Isend, Waitall; nothing is computed
///   stencil    the same, and a sweep over 64 rows of that length between two exchanges
///   allreduce  a sum of doubles
std::vector<ExchangeKind> const& exchange_kinds();

}  // namespace sluice::bench
