// SPDX-License-Identifier: BSD-3-Clause
/// What the launcher of a rank tells it in variables of the environment, before MPI_Init and without MPI.
///
///                     rank in the job       rank on this node           ranks of this node
///     Open MPI        OMPI_COMM_WORLD_RANK  OMPI_COMM_WORLD_LOCAL_RANK  OMPI_COMM_WORLD_LOCAL_SIZE
///     PMIx            PMIX_RANK             (none)                      (none)
///     MPICH's hydra   PMI_RANK              MPI_LOCALRANKID             MPI_LOCALNRANKS
///     Slurm's srun    SLURM_PROCID          SLURM_LOCALID               entry SLURM_NODEID of
///                                                                       SLURM_STEP_TASKS_PER_NODE
///
/// SLURM_NTASKS_PER_NODE is not among them: it repeats the option --ntasks-per-node, is missing without it, and is only
/// an upper bound if --ntasks is given as well. SLURM_TASKS_PER_NODE speaks of the allocation, not of the step.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace sluice::kernel {

/// Set by `sluice run` if it has set Open MPI's two parameters of the fence (plugin/job/declaration.hpp).
inline constexpr char k_fence_variable[] = "_SLUICE_FENCE";

/// The value of a variable of the environment; null if it is not set or empty. It stays valid until the variable is
/// changed. Not while another thread changes the environment, like everything here.
char const* variable(char const* name) noexcept;

/// The value of the first of these variables that is set and not empty; else null.
char const* first_variable(std::initializer_list<char const*> names) noexcept;

/// The number of this rank in its job, as text; null without a launcher.
char const* rank_of_launcher() noexcept;

/// False in a rank that is not the first of its job on this node, or of which no launcher says the number there and
/// which is not rank 0. For what one rank says as it ends: a rank that ends later cannot know what was said.
bool is_first_of_node() noexcept;

/// The number of ranks of this job on this node, at least 1; nothing if no launcher tells it. Between a launcher and
/// Slurm the launcher counts: its daemons are Slurm's tasks, and its ranks inherit their variables.
std::optional<std::uint32_t> ranks_of_node() noexcept;

/// Whether a launcher says that all ranks of this job are on this node, in the variables above and one of
/// OMPI_COMM_WORLD_SIZE, PMI_SIZE and SLURM_STEP_NUM_TASKS. False if none tells it.
bool has_all_ranks_on_this_node() noexcept;

/// The number of tasks on node `node` in a list as Slurm writes it: "2(x3),1" are 2 tasks on each of three nodes and 1
/// on a fourth. Nothing if the text is no such list or has no such node.
std::optional<std::uint32_t> slurm_tasks_on(std::string_view list, std::uint64_t node) noexcept;

}  // namespace sluice::kernel
