// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/fluctuation/table.hpp"

#include <fmt/format.h>

namespace sluice::cli {

namespace {

double number(Row const& row, char const* field) {
    return row.contains(field) ? row.at(field).get<double>() : 0;
}

std::string text(Row const& row, char const* field) {
    return row.contains(field) ? row.at(field).get<std::string>() : std::string();
}

/// Returns "0.966 (0.885 … 1.058)", multiplied by `scale`.
std::string spread(Row const& of, double scale, int digits) {
    return fmt::format("{:.{}f} ({:.{}f} … {:.{}f})", of.at("median").get<double>() * scale, digits,
                       of.at("min").get<double>() * scale, digits, of.at("max").get<double>() * scale, digits);
}

std::string kib(Row const& row, char const* field) {
    return row.contains(field) ? fmt::format("{:.0f}", number(row, field) / 1024) : "–";
}

/// Returns the ratio with `row` in its numerator.
Row const* ratio_of(std::vector<Row> const& rows, Row const& row) {
    for (Row const& other : rows)
        if (other.contains("ratio") && text(other, "ratio").starts_with(text(row, "method")) &&
            text(other, "settings") == text(row, "settings") &&
            other.contains("beside_neighbour") == row.contains("beside_neighbour"))
            return &other;
    return nullptr;
}

std::string micro_line(Row const& row) {
    std::string line = fmt::format("  {:<18}", text(row, "method"));
    if (row.contains("seconds")) return line + spread(row.at("seconds"), 1e9, 0) + " ns\n";
    return line + fmt::format("{:.0f} bytes a task\n", number(row, "extra_bytes"));
}

}  // namespace

std::string fluctuation_method(Row const& row) {
    std::string name = text(row, "method");
    std::string const settings = text(row, "settings");
    if (settings == "tokens=1000000")
        name += ", tokens for all";
    else if (settings == "send_control=off")
        name += ", uncontrolled";
    else if (row.contains("tokens"))
        name += fmt::format(", {} tokens", row.at("tokens").get<int>());
    else if (!settings.empty())
        name += ", " + settings;
    if (row.contains("beside_neighbour")) name += " beside it";
    return name;
}

std::string fluctuation_head(Row const& row) {
    std::string head = fmt::format("{} · {} ranks · {} · bed {}", text(row, "case"), row.at("ranks").get<int>(),
                                   text(row, "mpi"), text(row, "bed"));
    if (row.contains("rate_mbit")) head += fmt::format(", {:g} Mbit/s", number(row, "rate_mbit"));
    if (row.contains("node_bytes"))
        head += fmt::format(" of {:.0f} MiB, {:.0f} MiB of swap, limited by {}", number(row, "node_bytes") / (1 << 20),
                            number(row, "swap_bytes") / (1 << 20), text(row, "limited_by"));
    if (text(row, "deal") == "hotspot") head += " · half of the cubes on rank 0";
    if (text(row, "case") == "micro") return head + "\n";
    return head + fmt::format("\n  {:>8} {:<52} {:<26} {:>8} {:>15} {:>8} {:>8}  {:<22} {}\n", "MiB/rank", "method",
                              "ms a step (min … max)", "Mupd/s", "extra KiB c/r", "node MiB", "faults",
                              "ratio (min … max)", "overlap");
}

std::string fluctuation_lines(std::vector<Row> const& rows) {
    std::string lines;
    for (Row const& row : rows) {
        if (!row.contains("method")) continue;
        if (text(row, "case") == "micro") {
            lines += micro_line(row);
            continue;
        }
        lines += fmt::format("  {:>8g} {:<52} ", number(row, "base_mib"), fluctuation_method(row));
        std::string const node =
            row.contains("node_peak_bytes") ? fmt::format("{:.1f}", number(row, "node_peak_bytes") / (1 << 20)) : "–";
        if (text(row, "outcome") != "ok") {
            std::string fate = text(row, "outcome");
            if (row.contains("steps_done")) fate += fmt::format(" after {} steps", row.at("steps_done").get<int>());
            lines += fmt::format("{:<26} {:>8} {:>15} {:>8} {:>8}\n", fate, "–", "–", node, "–");
            continue;
        }
        lines += fmt::format("{:<26} {:>8.1f} {:>15} {:>8} {:>8.1f}", spread(row.at("seconds"), 1e3, 1),
                             number(row, "updates_per_second_per_rank") / 1e6,
                             kib(row, "extra_counted") + " / " + kib(row, "extra_resident"), node,
                             number(row, "major_faults"));
        Row const* const ratio = ratio_of(rows, row);
        bool const hid = row.contains("overlap");
        if (ratio != nullptr || hid)
            lines += fmt::format("  {:<22}", ratio != nullptr ? spread(ratio->at("time"), 1, 3) : std::string("–"));
        if (hid) lines += fmt::format(" {:.2f}", row.at("overlap").at("median").get<double>());
        lines += "\n";
    }
    return lines;
}

}  // namespace sluice::cli
