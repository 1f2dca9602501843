// SPDX-License-Identifier: BSD-3-Clause
/// A bound that no method can beat: the time that the busiest endpoint and the busiest link need for their bytes alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "madre/experiment.hpp"

namespace sluice::bench {

/// One directed link of a platform. Links with the same `id` are the same link.
struct RouteLink {
    std::size_t id;
    double bytes_per_second;
};

/// The links that a message from one rank to another passes, in order. The span is valid until the next call.
using Routes = std::function<std::span<RouteLink const>(int from, int to)>;

struct LowerBound {
    double endpoint_seconds = 0;  ///< of the worst rank: max(bytes out / rate out, bytes in / rate in)
    double link_seconds = 0;      ///< of the worst link: bytes that pass it / its rate
    std::uint64_t bytes = 0;      ///< bytes that cross the network
    double seconds() const { return endpoint_seconds > link_seconds ? endpoint_seconds : link_seconds; }
};

/// Computes the bound under fixed routes. The rate at which an endpoint sends (receives) is the sum over all first
/// (last) links of the routes that its own blocks take: up to six on a torus, one on a tree. Blocks that stay on their
/// rank do not count.
LowerBound lower_bound(Experiment const& experiment, std::uint64_t block_bytes, Routes const& routes);

}  // namespace sluice::bench
