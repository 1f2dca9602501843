/// All limits on this process's memory, not only the one that detect_memory_limit() picks: for whoever explains them.
#pragma once

#include <string>
#include <vector>

#include "sluice/budget.hpp"

namespace sluice {

/// Every place that can limit memory, in the order: setting, control groups (v2, then v1; from the group of the process
/// up), RLIMIT_DATA, RLIMIT_AS, MemAvailable. Where a place says that there is no limit, is_limit() is false.
std::vector<MemoryLimit> find_memory_limits(Bytes setting, std::string const& root = "");

bool is_limit(MemoryLimit const& limit);

/// The one that leaves least room; the first of equals; null where none limits.
MemoryLimit const* least_room(std::vector<MemoryLimit> const& limits);

}  // namespace sluice
