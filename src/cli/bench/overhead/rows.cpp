// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/overhead/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "cli/bench/overhead/median_interval.hpp"

namespace sluice::cli {

OverheadCell const* OverheadLines::find(std::string const& name, std::uint64_t bytes) const {
    auto const found = std::find_if(cells_.begin(), cells_.end(),
                                    [&](OverheadCell const& cell) { return cell.name == name && cell.bytes == bytes; });
    return found != cells_.end() ? &*found : nullptr;
}

OverheadCell& OverheadLines::cell(std::string const& name, std::uint64_t bytes) {
    if (OverheadCell const* const known = find(name, bytes))
        return cells_[static_cast<std::size_t>(known - cells_.data())];
    OverheadCell& made = cells_.emplace_back();
    made.name = name;
    made.bytes = bytes;
    return made;
}

void OverheadLines::take(std::string const& line) {
    std::istringstream words(line);
    std::string what;
    std::string name;
    std::uint64_t bytes = 0;
    double first = 0;
    double second = 0;
    words >> what >> name;
    if (what == "between") {
        between_ = name == "yes" && (between_ || !told_);
        told_ = true;
        return;
    }
    if (!(words >> bytes >> first)) return;
    if (what == "launch") cell(name, bytes).launches.push_back(first);
    if (!(words >> second)) return;
    if (what == "pair") cell(name, bytes).blocks.emplace_back(first, second);
    if (what == "helper") {
        cell(name, bytes).helper_seconds += first;
        cell(name, bytes).of_seconds += second;
    }
}

namespace {

OverheadRow row_of(OverheadPlace const& place, OverheadCell const& cell, char const* ratio,
                   MedianInterval const& time) {
    return {{"bench", "overhead"},
            {"case", cell.name},
            {"ranks", place.ranks},
            {"mpi", place.mpi},
            {"bed", "local"},
            {"bytes", cell.bytes},
            {"ratio", ratio},
            {"time", {{"min", time.min}, {"median", time.median}, {"max", time.max}}},
            {"confidence", {{"low", time.low}, {"high", time.high}}}};
}

template <class Of>
MedianInterval over(std::vector<std::pair<double, double>> const& pairs, Of const& of) {
    std::vector<double> values;
    values.reserve(pairs.size());
    for (auto const& [first, second] : pairs)
        values.push_back(of(first, second));
    return median_interval(std::move(values));
}

MedianInterval ratios(std::vector<std::pair<double, double>> const& pairs) {
    return over(pairs, [](double first, double second) { return first / second; });
}

double number(OverheadRow const& row, char const* object, char const* field) {
    return row.at(object).at(field).get<double>();
}

std::string percent(OverheadRow const& row) {
    return fmt::format("{:+.2f} ({:+.2f} … {:+.2f})", 100 * (number(row, "time", "median") - 1),
                       100 * (number(row, "confidence", "low") - 1), 100 * (number(row, "confidence", "high") - 1));
}

}  // namespace

std::vector<OverheadRow> block_rows(OverheadPlace const& place, OverheadLines const& watched,
                                    OverheadLines const& plain) {
    std::vector<OverheadRow> rows;
    for (OverheadCell const& cell : watched.cells()) {
        if (cell.blocks.empty()) continue;
        MedianInterval const ratio = ratios(cell.blocks);
        OverheadRow& row = rows.emplace_back(row_of(place, cell, "watched/direct", ratio));
        double const helper = cell.of_seconds > 0 ? cell.helper_seconds / cell.of_seconds : 0;
        row["pairs"] = cell.blocks.size();
        row["seconds_direct"] = over(cell.blocks, [](double, double direct) { return direct; }).median;
        row["seconds_added"] = over(cell.blocks, [](double ours, double direct) { return ours - direct; }).median;
        row["helper"] = helper;
        row["overhead"] = {{"median", ratio.median - 1 + helper}, {"high", ratio.high - 1 + helper}};
        OverheadCell const* const control = plain.find(cell.name, cell.bytes);
        if (control == nullptr || control->blocks.empty()) continue;
        rows.emplace_back(row_of(place, *control, "direct/direct", ratios(control->blocks)));
        rows.back()["pairs"] = control->blocks.size();
    }
    return rows;
}

std::vector<OverheadRow> launch_rows(OverheadPlace const& place, OverheadLines const& watched,
                                     OverheadLines const& plain) {
    std::vector<OverheadRow> rows;
    for (OverheadCell const& cell : plain.cells()) {
        OverheadCell const* const ours = watched.find(cell.name, cell.bytes);
        if (ours == nullptr || cell.launches.empty()) continue;
        std::vector<std::pair<double, double>> pairs;
        for (std::size_t i = 0; i < std::min(cell.launches.size(), ours->launches.size()); ++i)
            pairs.emplace_back(ours->launches[i], cell.launches[i]);
        OverheadRow& row = rows.emplace_back(row_of(place, cell, "watched/plain", ratios(pairs)));
        row["pairs"] = pairs.size();
        row["seconds_plain"] = median_interval(cell.launches).median;
        row["seconds_watched"] = median_interval(ours->launches).median;
    }
    return rows;
}

std::string block_table(OverheadPlace const& place, std::vector<OverheadRow> const& rows) {
    std::string text = fmt::format(
        "\n{} · {} ranks · blocks in one launch, watched and straight in libmpi\n"
        "  {:<10} {:>8} {:>11} {:>9}  {:<24} {:>8} {:>8}  {}\n",
        place.mpi, place.ranks, "case", "bytes", "direct us", "added us", "calls, % (95 %)", "helper %", "sum %",
        "control, % (95 %)");
    for (std::size_t i = 0; i < rows.size(); ++i) {
        OverheadRow const& row = rows[i];
        if (row.at("ratio") != "watched/direct") continue;
        bool const controlled = i + 1 < rows.size() && rows[i + 1].at("ratio") == "direct/direct";
        text += fmt::format("  {:<10} {:>8} {:>11.3f} {:>9.3f}  {:<24} {:>8.3f} {:>8.2f}  {}\n",
                            row.at("case").get<std::string>(), row.at("bytes").get<std::uint64_t>(),
                            1e6 * row.at("seconds_direct").get<double>(), 1e6 * row.at("seconds_added").get<double>(),
                            percent(row), 100 * row.at("helper").get<double>(), 100 * number(row, "overhead", "median"),
                            controlled ? percent(rows[i + 1]) : "–");
    }
    return text;
}

std::string launch_table(OverheadPlace const& place, std::vector<OverheadRow> const& rows) {
    std::string text = fmt::format(
        "\n{} · {} ranks · launches in turns, with and without sluice run\n"
        "  {:<10} {:>8} {:>12} {:>12} {:>10}  {}\n",
        place.mpi, place.ranks, "case", "bytes", "plain us", "watched us", "added us", "watched/plain (min … max)");
    for (OverheadRow const& row : rows) {
        double const plain = row.at("seconds_plain").get<double>();
        double const watched = row.at("seconds_watched").get<double>();
        text += fmt::format("  {:<10} {:>8} {:>12.3f} {:>12.3f} {:>10.3f}  {:.3f} ({:.3f} … {:.3f})\n",
                            row.at("case").get<std::string>(), row.at("bytes").get<std::uint64_t>(), 1e6 * plain,
                            1e6 * watched, 1e6 * (watched - plain), number(row, "time", "median"),
                            number(row, "time", "min"), number(row, "time", "max"));
    }
    return text;
}

}  // namespace sluice::cli
