// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/flood/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace sluice::cli {

namespace {

constexpr double k_bytes_in_mib = 1024.0 * 1024.0;

Row spread_of_floods(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    std::size_t const n = values.size();
    double const median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
    return {{"min", values.front()}, {"median", median}, {"max", values.back()}};
}

Row row_of_place(FloodPlace const& place) {
    return {{"bench", "flood"}, {"case", place.name}, {"ranks", place.ranks},
            {"mpi", place.mpi}, {"bed", place.bed},   {"bytes", place.bytes}};
}

Row row_of_method(FloodPlace const& place, char const* method, FloodSeries const& series) {
    std::vector<double> seconds;
    std::uint64_t grown = 0;
    for (FloodSample const& sample : series) {
        seconds.push_back(sample.seconds);
        grown = std::max(grown, sample.grown);
    }
    Row row = row_of_place(place);
    row["method"] = method;
    row["messages"] = series.front().messages;
    row["seconds"] = spread_of_floods(seconds);
    row["extra_bytes"] = grown;
    row["outcome"] = "ok";
    return row;
}

std::string line_of_one(Row const& row) {
    return fmt::format("{:<8} {:<6} {:<12} {:>6} {:>6} {:>10} {:>7.1f} ms {:>9} {:>9.2f}  {} messages",
                       row.at("mpi").get<std::string>(), row.at("bed").get<std::string>(),
                       row.at("case").get<std::string>(), row.at("ranks").get<int>(),
                       row.at("bytes").get<std::uint64_t>(), "-", row.at("seconds").at("median").get<double>() * 1e3,
                       "-", row.at("extra_bytes").get<double>() / k_bytes_in_mib,
                       row.at("messages").get<std::uint64_t>());
}

}  // namespace

std::optional<FloodSample> flood_sample(std::string const& line) {
    std::istringstream in(line);
    std::string word;
    std::string name;
    std::uint64_t bytes = 0;
    FloodSample sample;
    if (!(in >> word >> name >> bytes >> sample.messages >> sample.seconds >> sample.grown) || word != "flood")
        return std::nullopt;
    return sample;
}

Row flood_row(FloodPlace const& place, FloodSeries const& controlled) {
    return row_of_method(place, "sluice", controlled);
}

std::vector<Row> flood_rows(FloodPlace const& place, FloodSeries const& plain, FloodSeries const& controlled) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(plain.size(), controlled.size()); ++i)
        ratios.push_back(controlled[i].seconds / plain[i].seconds);
    Row ratio = row_of_place(place);
    ratio["ratio"] = "sluice/mpi";
    ratio["time"] = spread_of_floods(ratios);
    return {row_of_method(place, "mpi", plain), row_of_method(place, "sluice", controlled), ratio};
}

std::string flood_head() {
    return fmt::format("{:<8} {:<6} {:<12} {:>6} {:>6} {:>10} {:>10} {:>9} {:>9}  {}", "MPI", "bed", "case", "ranks",
                       "bytes", "plain", "flood on", "MiB plain", "MiB on", "time on/plain (min … max)");
}

std::string flood_line(std::vector<Row> const& rows) {
    if (rows.size() == 1) return line_of_one(rows.front());
    Row const& plain = rows.at(0);
    Row const& controlled = rows.at(1);
    Row const& time = rows.at(2).at("time");
    auto const ms = [](Row const& row) { return row.at("seconds").at("median").get<double>() * 1e3; };
    auto const mib = [](Row const& row) { return row.at("extra_bytes").get<double>() / k_bytes_in_mib; };
    double const microseconds = (ms(controlled) - ms(plain)) * 1e3 / plain.at("messages").get<double>();
    std::string const added = plain.at("case") == "idle" ? fmt::format("  {:+.3f} µs a send", microseconds) : "";
    return fmt::format(
        "{:<8} {:<6} {:<12} {:>6} {:>6} {:>7.1f} ms {:>7.1f} ms {:>9.2f} {:>9.2f}  {:.2f} ({:.2f} … {:.2f}){}",
        plain.at("mpi").get<std::string>(), plain.at("bed").get<std::string>(), plain.at("case").get<std::string>(),
        plain.at("ranks").get<int>(), plain.at("bytes").get<std::uint64_t>(), ms(plain), ms(controlled), mib(plain),
        mib(controlled), time.at("median").get<double>(), time.at("min").get<double>(), time.at("max").get<double>(),
        added);
}

}  // namespace sluice::cli
