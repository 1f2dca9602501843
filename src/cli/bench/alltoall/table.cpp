// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/alltoall/table.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace sluice::cli {

namespace {

constexpr char const* k_columns =
    "  {:<4} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}  {:<9} {:<24} {:<24} {:>10}  {:<9} {:<24} {:>12}\n";

/// The rows of one line of the table.
struct AlltoallLine {
    std::map<std::string, Row const*> ways;
    std::map<std::string, Row const*> ratios;
};

std::string median_us(AlltoallLine const& line, char const* method) {
    auto const found = line.ways.find(method);
    if (found == line.ways.end()) return "–";
    return fmt::format("{:.1f}", found->second->at("seconds").at("median").get<double>() * 1e6);
}

std::string ratio_spread(AlltoallLine const& line, std::string const& ratio) {
    auto const found = line.ratios.find(ratio);
    if (found == line.ratios.end()) return "–";
    Row const& time = found->second->at("time");
    return fmt::format("{:.3f} ({:.3f} … {:.3f})", time.at("median").get<double>(), time.at("min").get<double>(),
                       time.at("max").get<double>());
}

std::string extra_kib(AlltoallLine const& line, char const* method) {
    auto const found = line.ways.find(method);
    return found == line.ways.end() ? "–"
                                    : fmt::format("{:.0f}", found->second->at("extra_bytes").get<double>() / 1024);
}

std::string algorithm_of(AlltoallLine const& line, std::string const& method) {
    auto const found = line.ways.find(method);
    return found == line.ways.end() ? "–" : found->second->at("algorithm").get<std::string>();
}

std::string drawn_line(std::string const& buffers, std::uint64_t bytes, AlltoallLine const& line) {
    // A plan knows what a single call does not, so it has the columns of the choice, and the call stands beside it.
    std::string const chooser = line.ways.contains("plan") ? "plan" : "auto";
    return fmt::format(k_columns, buffers, bytes, median_us(line, "mpi"), median_us(line, "log_step"),
                       median_us(line, "window"), median_us(line, "pull"), median_us(line, chooser.c_str()),
                       algorithm_of(line, chooser), ratio_spread(line, chooser + "/mpi"),
                       ratio_spread(line, chooser + "/best"), median_us(line, "auto"), algorithm_of(line, "auto"),
                       ratio_spread(line, "auto/mpi"),
                       extra_kib(line, chooser.c_str()) + " / " + extra_kib(line, "mpi"));
}

}  // namespace

std::string alltoall_table(std::vector<Row> const& rows) {
    if (rows.empty()) return {};
    Row const& first = rows.front();
    std::string text = fmt::format("{} · {} ranks · {} · bed {}; times in µs\n", first.at("case").get<std::string>(),
                                   first.at("ranks").get<int>(), first.at("mpi").get<std::string>(),
                                   first.at("bed").get<std::string>());
    text +=
        fmt::format(k_columns, "", "bytes", "mpi", "log_step", "window", "pull", "choice", "", "choice/mpi (min … max)",
                    "choice/best (min … max)", "auto", "", "auto/mpi (min … max)", "extra KiB");
    std::vector<std::pair<std::string, std::uint64_t>> order;
    std::map<std::pair<std::string, std::uint64_t>, AlltoallLine> lines;
    for (Row const& row : rows) {
        std::pair const key(row.at("buffers").get<std::string>(), row.at("bytes").get<std::uint64_t>());
        if (!lines.contains(key)) order.push_back(key);
        AlltoallLine& line = lines[key];
        if (row.contains("method"))
            line.ways[row.at("method").get<std::string>()] = &row;
        else
            line.ratios[row.at("ratio").get<std::string>()] = &row;
    }
    for (auto const& key : order)
        text += drawn_line(key.first, key.second, lines[key]);
    return text;
}

}  // namespace sluice::cli
