// SPDX-License-Identifier: BSD-3-Clause
/// All limits on this process's memory, not only the one that detect_memory_limit() picks: for whoever explains them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/budget.hpp"

namespace sluice::budget {

/// No machine has that much: how "no limit" is written here. Version 1 of control groups writes a number of about 2^63.
inline constexpr std::uint64_t k_no_memory_limit = std::uint64_t{1} << 60;

/// Where a limit is, so that it can be watched.
struct MemoryPlace {
    enum class Kind { setting, cgroup_v2, cgroup_v1, data, address_space, resident_set, available };
    Kind kind;
    MemoryLimit limit;
    std::string folder;  ///< of a control group, with the root in front; else empty
    std::string file;    ///< in that folder, that tells the limit

    bool is_group() const noexcept { return kind == Kind::cgroup_v1 || kind == Kind::cgroup_v2; }
    /// Whether other processes use what it limits; else it counts this process alone.
    bool is_shared() const noexcept { return is_group() || kind == Kind::available; }
};

/// As find_memory_limits.
std::vector<MemoryPlace> find_memory_places(Bytes setting, std::string const& root = "");

/// In the text of /proc/self/limits, "Max data size             unlimited            unlimited            bytes": the
/// first of the two, the one that bites. 2^60 for "unlimited".
std::optional<std::uint64_t> soft_limit(std::string_view text, std::string_view name) noexcept;

/// Every place that can limit memory, in the order: setting, control groups (v2, then v1; from the group of the process
/// up), RLIMIT_DATA, RLIMIT_AS, MemAvailable. Where a place says that there is no limit, is_limit() is false.
std::vector<MemoryLimit> find_memory_limits(Bytes setting, std::string const& root = "");

bool is_limit(MemoryLimit const& limit);

/// The one that leaves least room; the first of equals; null where none limits.
MemoryLimit const* least_room(std::vector<MemoryLimit> const& limits);

}  // namespace sluice::budget
