// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/fluctuation/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::cli {

namespace {

using Choice = FluctuationChoice;
using Launch = FluctuationLaunch;
using LaunchList = std::vector<Launch>;

template <typename T>
std::vector<T> asked_or(std::vector<T> const& asked, std::vector<T> const& usual) {
    return asked.empty() ? usual : asked;
}

bool is_in(std::vector<std::string> const& list, std::string const& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

/// Returns the usual methods: without tokens, with each of these numbers of tokens of one message, and with as many
/// tokens as a method can use.
std::vector<std::string> usual_methods(Choice const& choice, bool parts,
                                       std::vector<int> const& usual_tokens = {2, 4, 8, 16}) {
    if (!choice.methods.empty()) return choice.methods;
    std::vector<std::string> methods{"at_once", "cube_by_cube", "fetch"};
    for (int const tokens : asked_or(choice.tokens, usual_tokens))
        methods.push_back(fmt::format("fetch:tokens={}", tokens));
    methods.insert(methods.end(), {"fetch:tokens=1000000", "send", "send:send_control=off"});
    if (parts) methods.insert(methods.end(), {"compute", "exchange"});
    return methods;
}

Launch launch_of(Choice const& choice, std::string const& mpi, std::string const& bed, std::string const& name,
                 int ranks, int base_mib) {
    Launch launch;
    launch.mpi = mpi;
    launch.bed = bed;
    launch.name = name;
    launch.ranks = ranks;
    launch.base_mib = base_mib;
    launch.edge = choice.edge;
    auto const cube_bytes = 2 * sizeof(double) * static_cast<std::uint64_t>(choice.edge) *
                            static_cast<std::uint64_t>(choice.edge) * static_cast<std::uint64_t>(choice.edge);
    auto const bytes = (static_cast<std::uint64_t>(base_mib) << 20) * static_cast<std::uint64_t>(ranks);
    launch.cubes = box_of(bytes / cube_bytes);
    launch.steps = choice.steps;
    launch.pairs = choice.pairs;
    return launch;
}

std::vector<std::string> const k_policies{
    "fetch:fetch_order=posted",
    "fetch:fetch_order=nearly_complete",
    "fetch:fetch_order=spread",
    "fetch:fetch_order=posted:fetch_memory=1TiB",
    "fetch:fetch_order=nearly_complete:fetch_memory=1TiB",
    "fetch:fetch_order=spread:fetch_memory=1TiB",
    "fetch:fetch_order=posted:fetch_window=64KiB",
    "fetch:fetch_order=posted:fetch_window=256KiB",
    "fetch:fetch_order=posted:fetch_window=1MiB",
};

/// Adds launches whose ranks share processors and memory, or are connected by a network.
void add_plain(LaunchList& launches, Choice const& choice, std::string const& mpi, std::string const& bed,
               std::string const& name) {
    int const base = bed == "cluster" ? 24 : 80;
    for (int const ranks : asked_or(choice.ranks, {2})) {
        if (name == "micro") {
            launches.push_back(launch_of(choice, mpi, bed, name, ranks, 0));
            continue;
        }
        for (int const mib : asked_or(choice.base_mib, {base})) {
            if (name != "policies") {
                Launch launch = launch_of(choice, mpi, bed, name, ranks, mib);
                launch.methods = usual_methods(choice, true);
                launches.push_back(launch);
                continue;
            }
            for (char const* const deal : {"checkerboard", "hotspot"}) {
                Launch launch = launch_of(choice, mpi, bed, "jacobi13", ranks, mib);
                launch.methods = asked_or(choice.methods, k_policies);
                launch.deal = deal;
                launches.push_back(launch);
            }
        }
    }
}

/// Adds launches with sizes below and above the limit, with each method alone: in one node, or in two that are joined
/// by a wire, each with half of its memory.
void add_limited(LaunchList& launches, Choice const& choice, std::string const& mpi, std::string const& name,
                 int nodes) {
    std::string const bed = nodes > 1 ? "limited_cluster" : "limited";
    for (int const ranks : asked_or(choice.ranks, {2}))
        for (int const mib : asked_or(choice.base_mib, {64, 72, 80, 88, 96, 104, 112})) {
            Launch free = launch_of(choice, mpi, nodes > 1 ? "cluster" : "local", name, ranks, mib);
            free.methods = usual_methods(choice, false);
            free.pairs = 1;
            launches.push_back(free);
            for (std::string const& method : free.methods) {
                Launch limited = free;
                limited.bed = bed;
                limited.nodes = nodes;
                limited.node_mib = choice.node_mib / nodes;
                limited.methods = {method};
                limited.after_one_without_limit = true;
                launches.push_back(limited);
            }
        }
}

/// In this case the cubes of all ranks take less than 40 % of the node; meanwhile another process takes half of it.
void add_adaptation(LaunchList& launches, Choice const& choice, std::string const& mpi) {
    int const ranks = asked_or(choice.ranks, {2}).front();
    int const node = choice.node_mib * 8 / 3;
    for (std::string const& method : asked_or(choice.methods, {"fetch", "fetch:fetch_memory=1TiB"})) {
        int const base = asked_or(choice.base_mib, {node * 39 / 100 / ranks / 4 * 4}).front();
        Launch launch = launch_of(choice, mpi, "limited", "jacobi13", ranks, base);
        launch.methods = {method};
        launch.steps = std::max(choice.steps, 100);
        launch.pairs = 5;
        launch.node_mib = node;
        launch.neighbour_mib = node / 2;
        launch.time_limits = 3;
        launches.push_back(launch);
    }
}

/// In this case the points of all ranks take twice the node's memory; one method works out of core, the other is
/// swapped.
void add_outofcore(LaunchList& launches, Choice const& choice, std::string const& mpi) {
    int const ranks = asked_or(choice.ranks, {2}).front();
    for (int const mib : asked_or(choice.base_mib, {2 * choice.node_mib / ranks})) {
        Launch launch = launch_of(choice, mpi, "local", "jacobi13", ranks, mib);
        launch.methods = asked_or(choice.methods, {"paged", "fetch:tokens=8", "at_once"});
        launch.steps = std::min(choice.steps, 4);
        launch.warm_up = 1;
        launch.pairs = 1;
        launches.push_back(launch);
        std::vector<std::string> const methods = launch.methods;
        for (std::string const& method : methods) {
            launch.bed = "limited";
            launch.node_mib = choice.node_mib;
            launch.methods = {method};
            launch.after_one_without_limit = true;
            launch.time_limits = 3;
            launches.push_back(launch);
        }
    }
}

/// Returns a box in which no face stays on its rank when the cubes are dealt to the ranks in turn: a step along y or z
/// passes fewer cubes than there are ranks, and a step along x passes a number that is no multiple of the ranks. (The
/// simulated machines have no link from a host to itself.) There are few cubes on many ranks, because the simulator's
/// time grows with the square of the messages under way.
std::array<int, 3> simulated_box(int ranks) {
    int side = 2;
    while (side < 16 && 4 * side * side < ranks)
        side *= 2;
    int const cubes = ranks * (ranks > 256 ? 4 : 8);
    int const layer = side * side;
    return {(cubes + layer - 1) / layer, side, side};
}

void add_simulated(LaunchList& launches, Choice const& choice, std::string const& name) {
    for (int const ranks : asked_or(choice.ranks, {512})) {
        Launch launch = launch_of(choice, "simgrid", "simulated", name == "policies" ? "jacobi13" : name, ranks, 0);
        launch.edge = 16;
        launch.cubes = simulated_box(ranks);
        launch.base_mib = 0;
        launch.deal = "cards";
        launch.steps = 2;
        launch.warm_up = 1;
        launch.pairs = 1;
        launch.compute_us = choice.compute_us;
        launch.methods = name == "policies" ? asked_or(choice.methods, k_policies) : usual_methods(choice, true, {8});
        // The method "one cube after the other" takes a thousand steps of the whole machine, so only an explicit choice
        // runs it.
        if (choice.methods.empty()) std::erase(launch.methods, "cube_by_cube");
        launches.push_back(launch);
        if (name != "policies") continue;
        launch.deal = "hotspot";
        launches.push_back(launch);
    }
}

}  // namespace

std::array<int, 3> box_of(std::uint64_t cubes) {
    for (int const side : {16, 8, 4, 2}) {
        auto const layer = static_cast<std::uint64_t>(side) * static_cast<std::uint64_t>(side);
        std::uint64_t const layers = (cubes + layer - 1) / layer;
        if (layers < static_cast<std::uint64_t>(side) && side > 2) continue;
        if (cubes % (2 * layer) != 0 && side > 2) continue;
        return {side, side, static_cast<int>(std::max<std::uint64_t>(2, layers + layers % 2))};
    }
    return {2, 2, 2};
}

LaunchList plan_fluctuation(Choice const& choice, std::vector<std::string> const& mpis) {
    LaunchList launches;
    for (std::string const& bed : asked_or(choice.beds, {"local", "limited"}))
        for (std::string const& mpi : bed == "simulated" ? std::vector<std::string>{"simgrid"} : mpis) {
            std::vector<std::string> usual{"jacobi13", "jacobi7"};
            if (bed == "local") usual.insert(usual.end(), {"micro", "policies"});
            if (bed == "limited_cluster") usual = {"jacobi13"};
            if (bed == "limited") usual = {"jacobi13", "outofcore", "adaptation", "jacobi7"};
            // MPICH's ranks page as Open MPI's do, so its limited runs are made only on request.
            if (bed == "limited" && mpi == "mpich" && choice.mpis.empty()) continue;
            for (std::string const& name : asked_or(choice.cases, usual)) {
                bool const relaxes = is_in({"jacobi7", "jacobi13"}, name);
                if (bed == "simulated" && (relaxes || name == "policies")) add_simulated(launches, choice, name);
                if (bed == "limited" && relaxes) add_limited(launches, choice, mpi, name, 1);
                if (bed == "limited_cluster" && relaxes) add_limited(launches, choice, mpi, name, 2);
                if (bed == "limited" && name == "adaptation") add_adaptation(launches, choice, mpi);
                if (bed == "limited" && name == "outofcore") add_outofcore(launches, choice, mpi);
                if ((bed == "local" || bed == "cluster") && name != "adaptation" && name != "outofcore")
                    add_plain(launches, choice, mpi, bed, name);
            }
        }
    return launches;
}

}  // namespace sluice::cli
