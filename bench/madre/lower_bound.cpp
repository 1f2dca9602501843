// SPDX-License-Identifier: BSD-3-Clause
#include "madre/lower_bound.hpp"

#include <algorithm>
#include <map>

namespace sluice::bench {

namespace {

/// The bytes that one rank sends or receives, and the links that carry them.
struct Endpoint {
    std::uint64_t bytes = 0;
    std::map<std::size_t, double> rates;  // of the links at this endpoint that its blocks use

    void add(RouteLink const& link, std::uint64_t more) {
        bytes += more;
        rates[link.id] = link.bytes_per_second;
    }
    double seconds() const {
        double rate = 0;
        for (auto const& [id, of_link] : rates)
            rate += of_link;
        return bytes == 0 ? 0 : static_cast<double>(bytes) / rate;
    }
};

/// Returns the bytes that one rank sends to each other rank.
std::map<int, std::uint64_t> bytes_from(Experiment const& experiment, int rank, std::uint64_t block_bytes) {
    std::map<int, std::uint64_t> result;
    for (std::uint64_t block = 0; block < experiment.live(rank); ++block) {
        int const to = experiment.destination(rank, block).rank;
        if (to != rank) result[to] += block_bytes;
    }
    return result;
}

}  // namespace

LowerBound lower_bound(Experiment const& experiment, std::uint64_t block_bytes, Routes const& routes) {
    LowerBound bound;
    std::vector<Endpoint> in(static_cast<std::size_t>(experiment.ranks()));
    std::map<std::size_t, double> seconds_of_link;
    for (int from = 0; from < experiment.ranks(); ++from) {
        Endpoint out;
        for (auto const& [to, bytes] : bytes_from(experiment, from, block_bytes)) {
            std::span<RouteLink const> const route = routes(from, to);
            bound.bytes += bytes;
            if (route.empty()) continue;  // the two ranks are on one host
            out.add(route.front(), bytes);
            in[static_cast<std::size_t>(to)].add(route.back(), bytes);
            for (RouteLink const& link : route)
                seconds_of_link[link.id] += static_cast<double>(bytes) / link.bytes_per_second;
        }
        bound.endpoint_seconds = std::max(bound.endpoint_seconds, out.seconds());
    }
    for (Endpoint const& endpoint : in)
        bound.endpoint_seconds = std::max(bound.endpoint_seconds, endpoint.seconds());
    for (auto const& [id, seconds] : seconds_of_link)
        bound.link_seconds = std::max(bound.link_seconds, seconds);
    return bound;
}

}  // namespace sluice::bench
