// SPDX-License-Identifier: BSD-3-Clause
/// The study of one MPI as rows for programs and as tables for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/memory/probe_launch.hpp"
#include "cli/memory/study.hpp"

namespace sluice::cli {

struct MemoryReport {
    std::string mpi;
    std::string library;
    int runs = 0;
    ProbeObjects objects;
    std::vector<ItemStudy> studies;
    std::map<std::string, std::string> refused;
    int predicted_ranks = 0;  ///< 0: nothing is predicted
    int per_node = 0;
    Peers peers = Peers::node;
};

/// Returns one row for each item and number of ranks ("memory": "measured"), one for each law ("law"), each prediction
/// ("prediction") and each refusal ("refused"). All amounts are in bytes.
std::vector<nlohmann::ordered_json> memory_rows(MemoryReport const& report);

/// Draws the tables: MiB for processes, KiB for objects.
std::string memory_tables(MemoryReport const& report);

}  // namespace sluice::cli
