// SPDX-License-Identifier: BSD-3-Clause
// The whole chain of memory limits, and the one that leaves the least room.
#include "budget/memory_limit.hpp"

#include <fmt/format.h>

#include "base/units.hpp"
#include "cli/doctor/memory_limits.hpp"
#include "sluice/settings.hpp"

namespace sluice::cli {

namespace {

std::string how_to_change(std::string const& source) {
    if (source == "setting") return "SLUICE_MEMORY=…, or unset it";
    if (source == "RLIMIT_DATA") return "ulimit -d unlimited (permanently: data in /etc/security/limits.conf)";
    if (source == "RLIMIT_AS") return "ulimit -v unlimited (permanently: as in /etc/security/limits.conf)";
    if (source == "RLIMIT_RSS") return "ask Slurm for more (srun --mem=…), or ulimit -m unlimited";
    if (source == "MemAvailable") return "other processes hold the rest: see ps -eo pid,rss,comm --sort=-rss | head";
    std::size_t const slash = source.find('/');
    if (source.ends_with("memory.stat"))
        return "the least of this group and those above it, even if they cannot be seen from here: ask for more "
               "memory "
               "(sbatch --mem=…, docker run --memory=…)";
    return fmt::format(
        "echo BYTES >{}; from a batch system or container ask for more memory (sbatch --mem=…, docker run "
        "--memory=…)",
        source.substr(slash));
}

std::string what_it_means(std::string const& source) {
    if (source == "setting") return "the memory that this process may use, as you set it";
    if (source == "RLIMIT_DATA") return "malloc fails beyond it; private writable memory counts, touched or not";
    if (source == "RLIMIT_AS") return "malloc and mmap fail beyond it; every mapping counts";
    if (source == "RLIMIT_RSS") return "the kernel ignores it, but Slurm sets it to the memory of the job on this node";
    if (source == "MemAvailable") return "beyond it the kernel swaps, or kills";
    if (source.ends_with("memory.high")) return "beyond it the kernel stalls all processes of the group";
    return "beyond it the kernel swaps, then kills a process of the group";
}

}  // namespace

Findings explain_memory_limits(std::vector<MemoryLimit> const& limits) {
    Findings findings;
    MemoryLimit const* const least = budget::least_room(limits);
    for (MemoryLimit const& limit : limits) {
        if (!budget::is_limit(limit)) {
            findings.push_back({Health::ok, limit.source, "no limit", what_it_means(limit.source), ""});
            continue;
        }
        bool const passed = limit.used >= limit.limit;
        Bytes const room = passed ? Bytes{0} : limit.limit - limit.used;
        findings.push_back({passed ? Health::missing : Health::fact, limit.source,
                            fmt::format("{}, of which this process leaves {}{}", base::format_bytes(limit.limit),
                                        base::format_bytes(room), &limit == least ? "; the least" : ""),
                            what_it_means(limit.source), how_to_change(limit.source)});
    }
    if (least != nullptr)
        findings.push_back(
            {Health::ok, "memory limit of a process", base::format_bytes(least->limit),
             "from " + least->source + "; budgets begin with it. Ranks of a node share the limits of groups",
             "SLUICE_MEMORY=… for less"});
    else
        findings.push_back({Health::limited, "memory limit of a process", "none was found",
                            "budgets cannot know how much memory there is", "SLUICE_MEMORY=…"});
    return findings;
}

Findings look_at_memory_limits() {
    return explain_memory_limits(budget::find_memory_limits(Settings::from_environment().memory));
}

}  // namespace sluice::cli
