// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/ft/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::cli {

namespace {

constexpr int k_usual_tasks = 8;
/// Class A, one node: from what everything at once needs down to one array.
std::vector<int> const k_usual_limits{0, 560, 480, 400, 340, 300, 260, 220, 190};
/// The limit for numbers of tasks, where everything at once does not fit.
constexpr int k_usual_limit_of_tasks = 400;

template <typename T>
std::vector<T> ft_values(std::vector<T> const& asked, std::vector<T> const& usual) {
    return asked.empty() ? usual : asked;
}

bool is_ft_of_tasks(std::string const& form) {
    return form == "tasks" || form == "tasks_normal";
}

/// Adds the cells of one form: one for each number of tokens if it has tokens.
void add_ft_form(std::vector<FtCell>& cells, FtCell cell, std::string const& form, int tasks, FtChoice const& choice) {
    cell.form = form;
    cell.tasks = is_ft_of_tasks(form) ? tasks : 0;
    if (form != "tasks") {
        cells.push_back(cell);
        return;
    }
    for (int const tokens : choice.tokens) {
        cell.tokens = tokens;
        cells.push_back(cell);
    }
}

FtTable ft_by_limit(FtChoice const& choice, FtCell const& place, std::vector<std::string> const& forms) {
    FtTable table;
    std::vector<int> limits = choice.node_mib;
    for (int const limit : k_usual_limits)
        if (choice.node_mib.empty()) limits.push_back(limit / place.nodes);
    for (int const limit : limits)
        for (std::string const& form : forms) {
            FtCell cell = place;
            cell.node_mib = limit;
            for (int const tasks :
                 is_ft_of_tasks(form) ? ft_values(choice.tasks, {k_usual_tasks}) : std::vector<int>{k_usual_tasks})
                add_ft_form(table.cells, cell, form, tasks, choice);
        }
    return table;
}

FtTable ft_by_tasks(FtChoice const& choice, FtCell place, std::vector<std::string> const& forms) {
    FtTable table{true, {}};
    place.node_mib = choice.node_mib.empty() ? k_usual_limit_of_tasks / place.nodes : choice.node_mib.front();
    for (int const tasks : {2, 4, 8, 16, 32})
        for (std::string const& form : forms)
            if (is_ft_of_tasks(form)) add_ft_form(table.cells, place, form, tasks, choice);
    return table;
}

}  // namespace

std::vector<FtTable> plan_ft(FtChoice const& choice, std::string const& mpi) {
    std::vector<FtTable> tables;
    std::vector<std::string> const forms =
        ft_values(choice.forms, {"plain", "plain_run", "in_place", "streamed", "tasks_normal", "tasks"});
    for (int const ranks : choice.ranks)
        for (int const nodes : choice.nodes) {
            FtCell const place{mpi, ranks, nodes, 0, {}, 0, 0};
            tables.push_back(ft_by_limit(choice, place, forms));
            if (choice.tasks.empty() && std::ranges::any_of(forms, is_ft_of_tasks))
                tables.push_back(ft_by_tasks(choice, place, forms));
        }
    return tables;
}

std::vector<std::size_t> ft_launches(FtTable const& table, int pairs) {
    std::vector<std::size_t> launches;
    auto const are_compared = [&](FtCell const& one, FtCell const& other) {
        return table.by_tasks ? one.tasks == other.tasks : one.node_mib == other.node_mib;
    };
    std::size_t first = 0;
    while (first < table.cells.size()) {
        std::size_t end = first;
        while (end < table.cells.size() && are_compared(table.cells[first], table.cells[end]))
            ++end;
        for (int pair = 0; pair < pairs; ++pair)
            for (std::size_t cell = first; cell < end; ++cell)
                launches.push_back(cell);
        first = end;
    }
    return launches;
}

std::string name_of_ft_form(FtCell const& cell, bool by_tasks) {
    std::string name = cell.form;
    if (cell.tasks > 0 && !by_tasks) name += fmt::format(", {} a rank", cell.tasks);
    if (cell.tokens > 0) name += fmt::format(", {} tokens", cell.tokens);
    return name;
}

}  // namespace sluice::cli
