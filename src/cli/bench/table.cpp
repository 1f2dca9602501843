// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/table.hpp"

#include <fmt/format.h>

namespace sluice::cli {

namespace {

constexpr double k_mib = 1024.0 * 1024.0;

double milliseconds(Row const& seconds, char const* which) {
    return seconds.at(which).get<double>() * 1e3;
}

/// Returns the ratio row "ours/theirs" if it was printed.
Row const* ratio_to(std::vector<Row> const& rows, std::string const& ours, std::string const& theirs) {
    for (Row const& row : rows)
        if (row.contains("ratio") && row.at("ratio") == ours + "/" + theirs) return &row;
    return nullptr;
}

std::string first_of_ours(std::vector<Row> const& rows) {
    for (Row const& row : rows)
        if (row.contains("ratio")) {
            std::string const ratio = row.at("ratio").get<std::string>();
            return ratio.substr(0, ratio.find('/'));
        }
    return {};
}

std::string method_line(std::vector<Row> const& rows, Row const& row, std::string const& ours, bool wire) {
    std::string const method = row.at("method").get<std::string>();
    if (row.at("outcome") != "ok")
        return fmt::format("  {:<16} {}{}\n", method, row.at("outcome").get<std::string>(),
                           row.contains("why") ? ": " + row.at("why").get<std::string>() : "");
    Row const& seconds = row.at("seconds");
    std::string const spread =
        fmt::format("({:.1f} … {:.1f})", milliseconds(seconds, "min"), milliseconds(seconds, "max"));
    double const rate = row.at("bytes_per_rank").get<double>() / seconds.at("median").get<double>() / 1e6;
    auto const mib = [&row](char const* field) {
        return row.contains(field) ? fmt::format("{:.2f}", row.at(field).get<double>() / k_mib) : std::string("–");
    };
    std::string const extra = mib("extra_counted") + " / " + mib("extra_resident");
    std::string line = fmt::format("  {:<16} {:>9.1f} {:<21} {:>8.0f}  {:>17}", method, milliseconds(seconds, "median"),
                                   spread, rate, extra);
    if (wire)
        line += row.contains("wire_fraction") ? fmt::format("  {:>6.3f}", row.at("wire_fraction").get<double>())
                                              : fmt::format("  {:>6}", "–");
    if (Row const* const ratio = ratio_to(rows, ours, method)) {
        Row const& time = ratio->at("time");
        line += fmt::format("  {:>6.3f} ({:.3f} … {:.3f})", time.at("median").get<double>(),
                            time.at("min").get<double>(), time.at("max").get<double>());
    }
    return line + "\n";
}

/// "  over the better of warm and lean (alltoallv_lean): token 0.512 (0.496 … 0.658), auto 0.520 (…)"
std::string better_peer_line(std::vector<Row> const& rows) {
    std::string line;
    for (Row const& row : rows) {
        if (!row.contains("best")) continue;
        std::string const ratio = row.at("ratio").get<std::string>();
        Row const& time = row.at("time");
        line += line.empty()
                    ? fmt::format("  over the better of warm and lean ({}): ", row.at("best").get<std::string>())
                    : std::string(", ");
        line +=
            fmt::format("{} {:.3f} ({:.3f} … {:.3f})", ratio.substr(0, ratio.find('/')),
                        time.at("median").get<double>(), time.at("min").get<double>(), time.at("max").get<double>());
    }
    return line.empty() ? line : line + "\n";
}

}  // namespace

std::string redistribute_title(Row const& row) {
    std::string text = fmt::format("{} · {} ranks · {} blocks of {} bytes a rank · {} · bed {}",
                                   row.at("case").get<std::string>(), row.at("ranks").get<int>(),
                                   row.at("blocks").get<std::uint64_t>(), row.at("block_bytes").get<std::uint64_t>(),
                                   row.at("mpi").get<std::string>(), row.at("bed").get<std::string>());
    if (row.contains("rate_mbit")) text += fmt::format(", {} Mbit/s", row.at("rate_mbit").get<double>());
    return text;
}

std::string redistribute_table(std::vector<Row> const& rows) {
    if (rows.empty()) return {};
    std::string const ours = first_of_ours(rows);
    bool const wire = rows.front().contains("rate_mbit");
    std::string text = redistribute_title(rows.front()) + "\n";
    text +=
        fmt::format("  {:<16} {:>9} {:<21} {:>8}  {:>17}", "method", "ms", "(min … max)", "MB/s", "extra MiB cnt/res");
    if (wire) text += fmt::format("  {:>6}", "wire");
    if (!ours.empty()) text += "  " + ours + "/this (min … max)";
    text += "\n";
    for (Row const& row : rows)
        if (row.contains("method")) text += method_line(rows, row, ours, wire);
    return text + better_peer_line(rows);
}

std::string inplace_table(std::vector<Row> const& rows) {
    if (rows.empty()) return {};
    Row const& first = rows.front();
    std::string text = fmt::format("{} in place · {} ranks · {} · bed {}\n", first.at("case").get<std::string>(),
                                   first.at("ranks").get<int>(), first.at("mpi").get<std::string>(),
                                   first.at("bed").get<std::string>());
    text += fmt::format("  {:>12} {:>12} {:>12}  {:<27} {:>24}\n", "bytes a pair", "sluice us", "mpi us",
                        "sluice/mpi (min … max)", "extra KiB sluice / mpi");
    Row const* ours = nullptr;
    Row const* theirs = nullptr;
    for (Row const& row : rows) {
        if (row.contains("method")) {
            (row.at("method") == "sluice" ? ours : theirs) = &row;
            continue;
        }
        if (ours == nullptr || theirs == nullptr) continue;
        auto const us = [](Row const& of) { return milliseconds(of.at("seconds"), "median") * 1e3; };
        auto const kib = [](Row const& of) { return of.at("extra_bytes").get<double>() / 1024; };
        Row const& time = row.at("time");
        text += fmt::format("  {:>12} {:>12.1f} {:>12.1f}  {:<27} {:>24}\n", row.at("bytes").get<std::uint64_t>(),
                            us(*ours), us(*theirs),
                            fmt::format("{:.3f} ({:.3f} … {:.3f})", time.at("median").get<double>(),
                                        time.at("min").get<double>(), time.at("max").get<double>()),
                            fmt::format("{:.0f} / {:.0f}", kib(*ours), kib(*theirs)));
    }
    return text;
}

}  // namespace sluice::cli
