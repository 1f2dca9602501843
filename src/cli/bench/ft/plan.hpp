// SPDX-License-Identifier: BSD-3-Clause
/// Which launches `sluice bench ft` makes: Table 3 and Figures 6a and 6b of Y. Shi, G. Zheng and L. V. Kale, "Run-time
/// Support for Controlling Communication-Induced Memory Fluctuation" (2007). Each is one form alone, because it may be
/// killed.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::cli {

/// All forms; plain_run is the plain one under `sluice run --memory`.
inline constexpr std::array<std::string_view, 7> k_ft_forms{"plain",    "plain_run",    "in_place", "out_of_place",
                                                            "streamed", "tasks_normal", "tasks"};

/// The user's choice; an empty list means the usual values.
struct FtChoice {
    std::vector<int> ranks{4};
    std::vector<int> nodes{1};
    std::vector<std::string> forms;
    std::vector<int> tasks;  ///< on each rank
    std::vector<int> tokens{4, 8};
    std::vector<int> node_mib;  ///< 0: no limit
};

struct FtCell {
    std::string mpi;
    int ranks = 4;
    int nodes = 1;
    int node_mib = 0;  ///< of each node; 0: no limit
    std::string form;
    int tasks = 0;   ///< on each rank; 0: the form has none
    int tokens = 0;  ///< 0: the form has none
};

/// Cells that are compared with each other: by limit of memory, or by number of tasks.
struct FtTable {
    bool by_tasks = false;
    std::vector<FtCell> cells;
};

/// Returns the tables of one MPI. Without a choice of tasks there are two for each number of ranks and nodes: all forms
/// by limit, with eight tasks a rank (Table 3, Figure 6a), and the forms with tasks by their number under one limit
/// (Figure 6b).
std::vector<FtTable> plan_ft(FtChoice const& choice, std::string const& mpi);

/// The cells of a table in the order of their launches: those that are compared take turns, `pairs` times.
std::vector<std::size_t> ft_launches(FtTable const& table, int pairs);

/// "tasks, 8 a rank, 4 tokens"; without the tasks if the table is by their number.
std::string name_of_ft_form(FtCell const& cell, bool by_tasks);

}  // namespace sluice::cli
