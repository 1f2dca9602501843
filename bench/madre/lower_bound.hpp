// SPDX-License-Identifier: BSD-3-Clause
/// What no method can beat: the time the busiest endpoint and the busiest link need for their bytes alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "madre/experiment.hpp"

namespace sluice::bench {

/// One directed link of a platform. Equal `id`: the same link.
struct RouteLink {
    std::size_t id;
    double bytes_per_second;
};

/// The links that a message from one rank to another passes, in order. The span is valid until the next call.
using Routes = std::function<std::span<RouteLink const>(int from, int to)>;

struct LowerBound {
    double endpoint_seconds = 0;  ///< the worst of all ranks: max(bytes out / rate out, bytes in / rate in)
    double link_seconds = 0;      ///< the worst of all links: bytes that pass it / its rate
    std::uint64_t bytes = 0;      ///< that cross the network
    double seconds() const { return endpoint_seconds > link_seconds ? endpoint_seconds : link_seconds; }
};

/// Under fixed routes. An endpoint's rate out (in) is that of all the first (last) links of the routes its own blocks
/// take: on a torus up to six, on a tree one. Blocks that stay on their rank count nothing.
LowerBound lower_bound(Experiment const& experiment, std::uint64_t block_bytes, Routes const& routes);

}  // namespace sluice::bench
