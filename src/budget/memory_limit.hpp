// SPDX-License-Identifier: BSD-3-Clause
/// All limits on this process's memory, not only the one that detect_memory_limit() picks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/budget.hpp"

namespace sluice::budget {

/// Stands for "no limit", because no machine has this much memory. Version 1 of control groups writes a number of about
/// 2^63.
inline constexpr std::uint64_t k_no_memory_limit = std::uint64_t{1} << 60;

/// Where a limit can be read again, so that it can be watched.
struct MemoryPlace {
    enum class Kind { setting, cgroup_v2, cgroup_v1, data, address_space, resident_set, available };
    Kind kind;
    MemoryLimit limit;
    std::string folder;  ///< folder of a control group, with the root in front; else empty
    std::string file;    ///< the file in `folder` that holds the limit

    bool is_group() const noexcept { return kind == Kind::cgroup_v1 || kind == Kind::cgroup_v2; }
    /// Whether the limit also counts other processes, or this process alone.
    bool is_shared() const noexcept { return is_group() || kind == Kind::available; }
};

/// Like find_memory_limits(), with the place of each limit.
std::vector<MemoryPlace> find_memory_places(Bytes setting, std::string const& root = "");

/// Finds `name` in the text of /proc/self/limits, "Max data size             unlimited            unlimited
/// bytes", and returns the first of the two numbers, the soft limit, which is the one in force. 2^60 stands for
/// "unlimited".
std::optional<std::uint64_t> soft_limit(std::string_view text, std::string_view name) noexcept;

/// Finds every place that can limit memory, in this order: setting, control groups (v2, then v1; from the group of the
/// process up), RLIMIT_DATA, RLIMIT_AS, MemAvailable. is_limit() is false for a place without a limit.
std::vector<MemoryLimit> find_memory_limits(Bytes setting, std::string const& root = "");

bool is_limit(MemoryLimit const& limit);

/// Returns the limit that leaves the least room, the first of equals; null if there is no limit.
MemoryLimit const* least_room(std::vector<MemoryLimit> const& limits);

}  // namespace sluice::budget
