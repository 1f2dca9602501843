// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/overlap/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::cli {

namespace {

std::string text(Row const& row, char const* field) {
    return row.contains(field) ? row.at(field).get<std::string>() : std::string();
}

double number(Row const& row, char const* field) {
    return row.at(field).get<double>();
}

/// The rows of one case in one table.
class CaseRows {
  public:
    CaseRows(std::vector<Row> const& rows, std::string const& name) {
        for (Row const& row : rows)
            if (text(row, "case") == name) rows_.push_back(&row);
    }

    bool empty() const { return rows_.empty(); }
    Row const& first() const { return *rows_.front(); }

    std::vector<std::uint64_t> sizes() const {
        return distinct<std::uint64_t>([](Row const& row) { return row.at("bytes").get<std::uint64_t>(); });
    }
    std::vector<std::string> words() const {
        return distinct<std::string>([](Row const& row) { return text(row, "overlap"); });
    }
    /// `field` is method or ratio. Returns null if there is no such row.
    Row const* find(char const* field, std::string const& value, std::uint64_t bytes, std::string const& word) const {
        for (Row const* const row : rows_)
            if (text(*row, field) == value && row->at("bytes") == bytes && text(*row, "overlap") == word) return row;
        return nullptr;
    }

  private:
    template <class T, class Of>
    std::vector<T> distinct(Of const& of) const {
        std::vector<T> values;
        for (Row const* const row : rows_)
            if (T const value = of(*row); std::find(values.begin(), values.end(), value) == values.end())
                values.push_back(value);
        return values;
    }

    std::vector<Row const*> rows_;
};

std::string milliseconds(Row const* row) {
    return row != nullptr ? fmt::format("{:.2f}", number(row->at("seconds"), "median") * 1e3) : "–";
}

std::string spread(Row const* ratio) {
    if (ratio == nullptr) return "–";
    Row const& time = ratio->at("time");
    return fmt::format("{:.3f} ({:.3f} … {:.3f})", number(time, "median"), number(time, "min"), number(time, "max"));
}

std::string middle(Row const* ratio) {
    return ratio != nullptr ? fmt::format("{:.3f}", number(ratio->at("time"), "median")) : "–";
}

std::string fraction(Row const* ratio, std::string const& field) {
    return ratio != nullptr && ratio->contains(field) ? fmt::format("{:.3f}", number(*ratio, field.c_str())) : "–";
}

std::string head_of(Row const& row) {
    std::string head = fmt::format("{} · {} · bed {}", text(row, "case"), text(row, "mpi"), text(row, "bed"));
    if (row.contains("rate_mbit")) head += fmt::format(", {:g} Mbit/s", number(row, "rate_mbit"));
    return head + "\n";
}

std::string case_table(CaseRows const& rows) {
    std::string const hand = text(rows.first(), "case") == "independent" ? "by_hand" : "strips";
    std::string table = head_of(rows.first());
    table += fmt::format("  {:>9} {:<8} {:>9} {:>9} {:>9} {:>9}  {:<24} {:>12} {:>8} {:>7} {:>8} {:>9}  {:<8}\n",
                         "bytes", "overlap", "blocking", "irecv", hand, "sluice", "sluice/blocking", "sluice_irecv",
                         "hideable", "hidden", "by hand", "of that", "presence");
    for (std::uint64_t const bytes : rows.sizes())
        for (std::string const& word : rows.words()) {
            auto const ms = [&](char const* method) { return milliseconds(rows.find("method", method, bytes, word)); };
            Row const* const ours = rows.find("ratio", "sluice/blocking", bytes, word);
            if (ours == nullptr) continue;
            Row const* const by_hand = rows.find("ratio", hand + "/blocking", bytes, word);
            Row const* const to_hand = rows.find("ratio", "sluice/" + hand, bytes, word);
            Row const* const control = rows.find("ratio", "blocking/blocking_plain", bytes, word);
            table += fmt::format(
                "  {:>9} {:<8} {:>9} {:>9} {:>9} {:>9}  {:<24} {:>12} {:>8.3f} {:>7} {:>8} {:>9}  {:<8}\n", bytes, word,
                ms("blocking"), ms("irecv"), ms(hand.c_str()), ms("sluice"), spread(ours),
                middle(rows.find("ratio", "sluice_irecv/blocking", bytes, word)), number(*ours, "hideable"),
                fraction(ours, "hidden"), fraction(by_hand, "hidden"), fraction(to_hand, "hidden_of_" + hand),
                control != nullptr ? fmt::format("{:.3f}", number(control->at("time"), "median")) : "–");
        }
    return table + "\n";
}

std::string latency_table(CaseRows const& rows) {
    if (rows.empty()) return {};
    std::string table = "8-byte message, " + head_of(rows.first());
    for (std::string const& word : rows.words()) {
        Row const* const row = rows.find("ratio", "program/straight", 8, word);
        if (row == nullptr) continue;
        Row const& added = row->at("seconds_added");
        table += fmt::format("  {:<8} {:>9.3f} us, added {:+.0f} ns ({:+.0f} … {:+.0f})\n", word,
                             number(*row, "seconds_straight") * 1e6, number(added, "median") * 1e9,
                             number(added, "low") * 1e9, number(added, "high") * 1e9);
    }
    return table + "\n";
}

std::string idle_table(std::vector<Row> const& rows) {
    std::string table;
    for (Row const& row : rows) {
        if (text(row, "case") != "idle") continue;
        if (table.empty()) table = "wake-ups of threads in an idle second, " + head_of(row);
        table += fmt::format("  {:<8}", text(row, "overlap"));
        if (row.at("wake_ups").empty()) table += " no thread of Sluice";
        for (auto const& [thread, count] : row.at("wake_ups").items())
            table += fmt::format(" {} {}", thread, count.get<std::uint64_t>());
        table += "\n";
    }
    return table;
}

std::string delay_table(std::vector<Row> const& rows) {
    std::string table;
    for (Row const& row : rows) {
        if (text(row, "case") != "delayed") continue;
        if (table.empty()) table = "part of the rounds for which a rank waited for a processor:";
        table += fmt::format(" {} {:.3f}", text(row, "overlap"), number(row, "delayed"));
    }
    return table.empty() ? table : table + "\n";
}

/// What the service itself says of its launches.
std::string said(std::vector<Row> const& rows) {
    std::string lines;
    for (Row const& row : rows)
        if (text(row, "case") == "said") lines += fmt::format("  {:<8} {}\n", text(row, "overlap"), text(row, "line"));
    return lines;
}

}  // namespace

std::string overlap_table(std::vector<Row> const& rows) {
    std::string table;
    for (char const* const name : {"independent", "light", "heavy"})
        if (CaseRows const of_case(rows, name); !of_case.empty()) table += case_table(of_case);
    return table + latency_table(CaseRows(rows, "latency")) + idle_table(rows) + delay_table(rows) + said(rows);
}

}  // namespace sluice::cli
