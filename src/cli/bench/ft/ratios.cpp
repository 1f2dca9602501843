// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/ft/ratios.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::cli {

namespace {

bool has_ft_seconds(Row const& row) {
    return row.is_object() && row.contains("seconds");
}

double ft_seconds_of(Row const& row) {
    return row.at("seconds").get<double>();
}

/// The lower one of two in the middle.
double ft_median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[(values.size() - 1) / 2];
}

}  // namespace

std::vector<Row> ft_ratios(FtTable const& table, FtLaunches const& launches) {
    std::vector<Row> ratios;
    for (std::size_t ours = 0; ours < table.cells.size(); ++ours) {
        FtCell const& cell = table.cells[ours];
        auto const plain = std::ranges::find_if(
            table.cells, [&](FtCell const& other) { return other.form == "plain" && other.node_mib == cell.node_mib; });
        if (cell.form == "plain" || plain == table.cells.end()) continue;
        auto const& theirs = launches[static_cast<std::size_t>(plain - table.cells.begin())];
        std::vector<double> each;
        Row row;
        for (std::size_t turn = 0; turn < std::min(launches[ours].size(), theirs.size()); ++turn) {
            Row const& mine = launches[ours][turn];
            if (!has_ft_seconds(mine) || !has_ft_seconds(theirs[turn])) continue;
            each.push_back(ft_seconds_of(mine) / ft_seconds_of(theirs[turn]));
            for (char const* const name : {"bench", "case", "ranks", "mpi", "bed", "nodes", "node_bytes"})
                if (mine.contains(name)) row[name] = mine.at(name);
        }
        if (each.empty()) continue;
        row["ratio"] = name_of_ft_form(cell, false) + "/plain";
        row["time"] = {{"min", *std::ranges::min_element(each)},
                       {"median", ft_median(each)},
                       {"max", *std::ranges::max_element(each)}};
        row["pairs"] = each.size();
        ratios.push_back(row);
    }
    return ratios;
}

std::string ft_ratio_lines(std::vector<Row> const& ratios) {
    if (ratios.empty()) return {};
    std::string text =
        fmt::format("  {:>9} {:<34} {:>24} {:>6}\n", "node MiB", "ratio of seconds", "median (min … max)", "pairs");
    for (Row const& row : ratios) {
        Row const& time = row.at("time");
        std::string const limit =
            row.contains("node_bytes") ? std::to_string(row.at("node_bytes").get<std::uint64_t>() >> 20) : "none";
        text += fmt::format("  {:>9} {:<34} {:>24} {:>6}\n", limit, row.at("ratio").get<std::string>(),
                            fmt::format("{:.3f} ({:.3f} … {:.3f})", time.at("median").get<double>(),
                                        time.at("min").get<double>(), time.at("max").get<double>()),
                            row.at("pairs").get<std::size_t>());
    }
    return text;
}

Row ft_typical(std::vector<Row> const& launches) {
    std::vector<Row const*> with_seconds;
    for (Row const& row : launches) {
        if (row.is_null()) continue;
        if (!has_ft_seconds(row)) return row;
        with_seconds.push_back(&row);
    }
    if (with_seconds.empty()) return {};
    std::ranges::sort(with_seconds, {}, [](Row const* row) { return ft_seconds_of(*row); });
    return *with_seconds[(with_seconds.size() - 1) / 2];
}

}  // namespace sluice::cli
