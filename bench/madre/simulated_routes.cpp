// SPDX-License-Identifier: BSD-3-Clause
#include "madre/simulated_routes.hpp"

#include <mpi.h>

#include <memory>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>
#include <unordered_map>
#include <vector>

#include "mpi/mpi.hpp"

namespace sluice::bench {

namespace {
struct Platform {
    std::vector<simgrid::s4u::Host*> host_of_rank;
    std::unordered_map<simgrid::s4u::Link const*, std::size_t> number;
    std::vector<simgrid::s4u::Link*> links;
    std::vector<RouteLink> route;
};
}  // namespace

Routes simulated_routes() {
    auto const platform = std::make_shared<Platform>();
    int const ranks = mpi::size_of(MPI_COMM_WORLD);
    int const rank = mpi::rank_in(MPI_COMM_WORLD);
    // All ranks live in one process, so the address of a host is the same on all of them.
    auto mine = reinterpret_cast<std::uint64_t>(simgrid::s4u::this_actor::get_host());
    std::vector<std::uint64_t> all(rank == 0 ? static_cast<std::size_t>(ranks) : 0);
    mpi::check(MPI_Gather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD), "MPI_Gather");
    for (std::uint64_t const host : all)
        platform->host_of_rank.push_back(reinterpret_cast<simgrid::s4u::Host*>(host));

    return [platform](int from, int to) -> std::span<RouteLink const> {
        double latency = 0;
        platform->links.clear();
        platform->route.clear();
        platform->host_of_rank[static_cast<std::size_t>(from)]->route_to(
            platform->host_of_rank[static_cast<std::size_t>(to)], platform->links, &latency);
        for (simgrid::s4u::Link const* link : platform->links) {
            std::size_t const next = platform->number.size();
            platform->route.push_back({platform->number.try_emplace(link, next).first->second, link->get_bandwidth()});
        }
        return platform->route;
    };
}

}  // namespace sluice::bench
