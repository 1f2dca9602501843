// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/launcher.hpp"

#include <charconv>
#include <cstdlib>

namespace sluice::kernel {

namespace {

// More than any machine runs: a larger value is not one that a launcher has written.
constexpr std::uint32_t k_most_ranks = 1U << 20;

/// Takes a number from the front of `text`; nothing for 0.
std::optional<std::uint32_t> take_number(std::string_view& text) noexcept {
    std::uint32_t number = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number == 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

bool take(std::string_view& text, std::string_view start) noexcept {
    if (!text.starts_with(start)) return false;
    text.remove_prefix(start.size());
    return true;
}

/// The whole text as a number of ranks.
std::optional<std::uint32_t> ranks_in(std::string_view text) noexcept {
    std::optional<std::uint32_t> const number = take_number(text);
    return text.empty() && number && *number <= k_most_ranks ? number : std::nullopt;
}

std::optional<std::uint64_t> node_of_slurm() noexcept {
    char const* const text = variable("SLURM_NODEID");
    if (text == nullptr) return std::nullopt;
    std::string_view const all = text;
    std::uint64_t node = 0;
    auto const [end, error] = std::from_chars(all.data(), all.data() + all.size(), node);
    if (error != std::errc{} || end != all.data() + all.size()) return std::nullopt;
    return node;
}

}  // namespace

char const* variable(char const* name) noexcept {
    char const* const value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

char const* first_variable(std::initializer_list<char const*> names) noexcept {
    for (char const* const name : names)
        if (char const* const value = variable(name)) return value;
    return nullptr;
}

char const* rank_of_launcher() noexcept {
    return first_variable({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"});
}

bool is_first_of_node() noexcept {
    char const* rank = first_variable({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"});
    if (rank == nullptr) rank = rank_of_launcher();
    return rank == nullptr || std::string_view(rank) == "0";
}

std::optional<std::uint32_t> ranks_of_node() noexcept {
    if (char const* const ranks = first_variable({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}))
        return ranks_in(ranks);
    char const* const tasks = variable("SLURM_STEP_TASKS_PER_NODE");
    std::optional<std::uint64_t> const node = node_of_slurm();
    return tasks != nullptr && node ? slurm_tasks_on(tasks, *node) : std::nullopt;
}

bool has_all_ranks_on_this_node() noexcept {
    char const* const all = first_variable({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"});
    std::optional<std::uint32_t> const here = ranks_of_node();
    return all != nullptr && here && here == ranks_in(all);
}

std::optional<std::uint32_t> slurm_tasks_on(std::string_view list, std::uint64_t node) noexcept {
    while (true) {
        auto const tasks = take_number(list);
        if (!tasks) return std::nullopt;
        std::uint32_t nodes = 1;
        if (take(list, "(x")) {
            auto const times = take_number(list);
            if (!times || !take(list, ")")) return std::nullopt;
            nodes = *times;
        }
        if (node < nodes) return *tasks <= k_most_ranks ? tasks : std::nullopt;
        node -= nodes;
        if (!take(list, ",")) return std::nullopt;
    }
}

}  // namespace sluice::kernel
