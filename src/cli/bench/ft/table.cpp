// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/ft/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace sluice::cli {

namespace {

std::string ft_number(Row const& row, char const* name, char const* format) {
    return row.contains(name) ? fmt::format(fmt::runtime(format), row.at(name).get<double>()) : std::string("-");
}

std::string ft_limit(FtCell const& cell) {
    return cell.node_mib > 0 ? std::to_string(cell.node_mib) : "none";
}

/// Faults of the nodes; without a limit those of the worst rank.
std::string ft_faults(Row const& row) {
    return ft_number(row, row.contains("node_major_faults") ? "node_major_faults" : "major_faults", "{:.0f}");
}

std::string ft_seconds(Row const& row) {
    return row.contains("seconds") ? ft_number(row, "seconds", "{:.2f}") : row.at("outcome").get<std::string>();
}

/// Names in the order in which they come first.
std::vector<std::string> ft_names(FtTable const& table, std::function<std::string(FtCell const&)> const& name) {
    std::vector<std::string> names;
    for (FtCell const& cell : table.cells)
        if (std::ranges::find(names, name(cell)) == names.end()) names.push_back(name(cell));
    return names;
}

std::string ft_matrix(FtTable const& table, std::vector<Row> const& rows, std::string const& title,
                      std::string (*figure)(Row const&)) {
    auto const column_of = [&](FtCell const& cell) {
        return table.by_tasks ? std::to_string(cell.tasks) : ft_limit(cell);
    };
    auto const form_of = [&](FtCell const& cell) { return name_of_ft_form(cell, table.by_tasks); };
    std::vector<std::string> const columns = ft_names(table, column_of);
    std::string text = fmt::format("{:<30}", title);
    for (std::string const& column : columns)
        text += fmt::format(" {:>8}", column);
    for (std::string const& form : ft_names(table, form_of)) {
        text += fmt::format("\n  {:<28}", form);
        for (std::string const& column : columns) {
            std::string shown = "-";
            for (std::size_t i = 0; i < rows.size(); ++i)
                if (form_of(table.cells[i]) == form && column_of(table.cells[i]) == column && !rows[i].is_null())
                    shown = figure(rows[i]);
            text += fmt::format(" {:>8}", shown);
        }
    }
    return text + "\n\n";
}

}  // namespace

std::string ft_columns() {
    return fmt::format("  {:>9} {:<28} {:>9} {:>13} {:>14} {:>14} {:>9}\n", "node MiB", "form", "seconds",
                       "major faults", "MiB of a rank", "MiB messages", "outcome");
}

std::string ft_line(FtCell const& cell, Row const& row) {
    return fmt::format("  {:>9} {:<28} {:>9} {:>13} {:>14} {:>14} {:>9}\n", ft_limit(cell),
                       name_of_ft_form(cell, false), ft_number(row, "seconds", "{:.3f}"), ft_faults(row),
                       ft_number(row, "peak_mib", "{:.1f}"), ft_number(row, "message_mib", "{:.2f}"),
                       row.at("outcome").get<std::string>());
}

std::string ft_matrices(FtTable const& table, std::vector<Row> const& rows) {
    std::string const by =
        table.by_tasks ? fmt::format("by tasks, {} MiB", ft_limit(table.cells.front())) : "by MiB of a node";
    return ft_matrix(table, rows, "major faults " + by, ft_faults) +
           ft_matrix(table, rows, "seconds " + by, ft_seconds);
}

}  // namespace sluice::cli
