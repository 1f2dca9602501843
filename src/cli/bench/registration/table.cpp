// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/registration/table.hpp"

#include <fmt/format.h>

namespace sluice::cli {

namespace {

constexpr double k_bytes_a_mib = 1024.0 * 1024.0;

std::string text_in(Row const& row, char const* field) {
    return row.contains(field) ? row.at(field).get<std::string>() : std::string();
}

double number_in(Row const& row, char const* field) {
    return row.contains(field) ? row.at(field).get<double>() : 0;
}

/// Real runs have a spread, turned ones a number.
double median_seconds(Row const& row) {
    Row const& seconds = row.at("seconds");
    return seconds.is_object() ? seconds.at("median").get<double>() : seconds.get<double>();
}

Row const* row_of_method(std::vector<Row> const& rows, std::string const& shape, char const* method) {
    for (Row const& row : rows)
        if (text_in(row, "case") == shape && text_in(row, "method") == method) return &row;
    return nullptr;
}

std::string in_percent(Row const& row, char const* field) {
    return row.contains(field) ? fmt::format("{:>6.1f}", 100 * number_in(row, field)) : fmt::format("{:>6}", "–");
}

std::string peak_ratio(double part, Row const* whole) {
    double const of = whole == nullptr ? 0 : number_in(*whole, "peak_pinned");
    return of > 0 ? fmt::format("{:>6.2f}", part / of) : fmt::format("{:>6}", "–");
}

std::string registration_title(Row const& row) {
    std::string text = fmt::format("{} · {} ranks · registrar {}", text_in(row, "case"), number_in(row, "ranks"),
                                   text_in(row, "registrar"));
    if (row.contains("note")) text += "\n  " + text_in(row, "note");
    if (row.contains("paper_saving_percent"))
        text += fmt::format("; the paper saves {} % of the peak", number_in(row, "paper_saving_percent"));
    if (row.contains("faster")) text += fmt::format(" · {:.0f} times as fast", number_in(row, "faster"));
    if (row.contains("nanoseconds")) return text + "\n";
    text += fmt::format("\n  {:<13} {:>10} {:>6} {:>6} {:>10} {:>11} {:>16} {:>6} {:>6} {:>6}\n", "scheme", "peak MiB",
                        "/leave", "/best", "avg MiB", "seconds", "by main", "0.5 %", "5 %", "missed");
    return text;
}

std::string scheme_line(std::vector<Row> const& rows, Row const& row) {
    std::string const shape = text_in(row, "case");
    double const peak = number_in(row, "peak_pinned");
    std::string const by_main = fmt::format("{}/{}", number_in(row, "main_registrations"), number_in(row, "messages"));
    return fmt::format("  {:<13} {:>10.1f} {} {} {:>10.1f} {:>11.4f} {:>16} {} {} {}\n", text_in(row, "method"),
                       peak / k_bytes_a_mib, peak_ratio(peak, row_of_method(rows, shape, "leave_pinned")),
                       peak_ratio(peak, row_of_method(rows, shape, "optimum")),
                       number_in(row, "average_pinned") / k_bytes_a_mib, median_seconds(row), by_main,
                       in_percent(row, "within_half_percent"), in_percent(row, "within_five_percent"),
                       in_percent(row, "missed"));
}

std::string schemes_ratio(Row const& row) {
    Row const& time = row.at("time");
    std::string const spread = time.is_object()
                                   ? fmt::format("{:.3f} ({:.3f} … {:.3f})", time.at("median").get<double>(),
                                                 time.at("min").get<double>(), time.at("max").get<double>())
                                   : fmt::format("{:.4f}", time.get<double>());
    return fmt::format("  {}: time {}, peak {:.3f}, average {:.3f}\n", text_in(row, "ratio"), spread,
                       number_in(row, "peak_pinned"), number_in(row, "average_pinned"));
}

std::string message_line(Row const& row) {
    Row const& spread = row.at("nanoseconds");
    return fmt::format("  {:<15} {:>5.0f} buffers: {:.0f} ns a message at least, median {:.0f}\n",
                       text_in(row, "method"), number_in(row, "buffers"), spread.at("min").get<double>(),
                       spread.at("median").get<double>());
}

std::string target_line(Row const& row) {
    bool const has_least = row.contains("least");
    std::string line = fmt::format("  {:<7} {}: {:.3f}, at {} {:.3f}", row.at("met").get<bool>() ? "met" : "missed",
                                   text_in(row, "target"), number_in(row, "value"), has_least ? "least" : "most",
                                   number_in(row, has_least ? "least" : "most"));
    if (row.contains("optimum")) line += fmt::format(" (optimum {:.3f})", number_in(row, "optimum"));
    return line + "\n";
}

/// The paper's savings beside those here, and which targets were missed.
std::string all_targets(std::vector<Row> const& rows) {
    std::size_t met = 0;
    std::string savings;
    std::string missed;
    for (Row const& row : rows) {
        if (!row.contains("target")) continue;
        if (row.at("met").get<bool>())
            ++met;
        else
            missed += fmt::format("  {}: {}", text_in(row, "case"), target_line(row).substr(10));
        if (text_in(row, "target").starts_with("saving"))
            savings += fmt::format("  {:<14} {:>8.1f} {:>8.1f} {:>8.1f}\n", text_in(row, "case"),
                                   number_in(row, "least"), number_in(row, "value"), number_in(row, "optimum"));
    }
    if (met == 0 && missed.empty()) return {};
    std::string text = "\n";
    if (!savings.empty())
        text += fmt::format("saving of the peak against leave pinned, percent\n  {:<14} {:>8} {:>8} {:>8}\n{}", "shape",
                            "paper", "sluice", "optimum", savings);
    return text + fmt::format("targets met: {}\n", met) + (missed.empty() ? "" : "targets missed:\n" + missed);
}

}  // namespace

std::string registration_table(std::vector<Row> const& rows) {
    std::string table;
    std::string shape;
    for (Row const& row : rows) {
        if (text_in(row, "case") != shape) {
            shape = text_in(row, "case");
            table += (table.empty() ? "" : "\n") + registration_title(row);
        }
        if (row.contains("why"))
            table += fmt::format("  {}: {}\n", text_in(row, "outcome"), text_in(row, "why"));
        else if (row.contains("nanoseconds"))
            table += message_line(row);
        else if (row.contains("target"))
            table += target_line(row);
        else if (row.contains("method"))
            table += scheme_line(rows, row);
        else if (row.contains("ratio"))
            table += schemes_ratio(row);
    }
    return table + all_targets(rows);
}

}  // namespace sluice::cli
