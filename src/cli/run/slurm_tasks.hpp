// SPDX-License-Identifier: BSD-3-Clause
/// How many ranks Slurm starts on a node.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::cli {

/// The tasks of node number `node` in a list as Slurm writes it into SLURM_STEP_TASKS_PER_NODE: "2(x3),1" are 2 on each
/// of three nodes and 1 on a fourth. Nothing where the list is no such one, or has no such node.
std::optional<std::uint64_t> slurm_tasks_on(std::string_view list, std::uint64_t node);

}  // namespace sluice::cli
