// SPDX-License-Identifier: BSD-3-Clause
#include "budget/node_limit.hpp"

#include <algorithm>
#include <vector>

#include "budget/memory_limit.hpp"
#include "kernel/files/read_text.hpp"
#include "kernel/proc_text.hpp"

namespace sluice::budget {

Bytes find_node_limit(std::string const& root) {
    std::vector<MemoryLimit> limits;
    for (MemoryPlace& place : find_memory_places(Bytes{0}, root))
        // By RLIMIT_RSS, which the kernel ignores, Slurm tells what a job has on a node.
        if (place.is_shared() || place.kind == MemoryPlace::Kind::resident_set)
            limits.push_back(std::move(place.limit));
    MemoryLimit const* const least = least_room(limits);
    return least == nullptr ? Bytes{k_no_memory_limit} : least->limit;
}

namespace {

/// Each group has the count of its own processes, so the innermost is asked, which the places begin with.
std::string file_of_kills(std::string const& root) {
    for (MemoryPlace const& place : find_memory_places(Bytes{0}, root)) {
        if (place.kind == MemoryPlace::Kind::cgroup_v2) return place.folder + "/memory.events";
        if (place.kind == MemoryPlace::Kind::cgroup_v1) return place.folder + "/memory.oom_control";
    }
    return root + "/proc/vmstat";
}

}  // namespace

MemoryKills::MemoryKills(std::string const& root) : file_(file_of_kills(root)), before_(all().value_or(0)) {}

std::optional<std::uint64_t> MemoryKills::all() const noexcept {
    kernel::KernelText room;
    return kernel::number_after(kernel::read_text(file_, room), "oom_kill");
}

std::optional<std::uint64_t> MemoryKills::count() const noexcept {
    std::optional<std::uint64_t> const now = all();
    if (!now) return std::nullopt;
    return *now - std::min(before_, *now);
}

}  // namespace sluice::budget
