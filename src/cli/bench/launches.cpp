// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace sluice::cli {

namespace {

constexpr char const* k_ratio = "token/alltoallv_best";

double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    std::size_t const middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

bool Launches::add(std::vector<Row> const& rows) {
    std::optional<double> time;
    std::optional<double> processor;
    for (Row const& row : rows) {
        if (row.contains("ratio") && row.at("ratio") == k_ratio) time = row.at("time").at("median").get<double>();
        if (row.contains("method") && row.at("method") == "token" && row.at("outcome") == "ok")
            processor = row.at("processor_seconds").at("median").get<double>();
    }
    if (!time || !processor) return false;
    if (launches_.empty())
        for (char const* const name : {"bench", "case", "ranks", "block_bytes", "blocks", "mpi", "bed"})
            cell_[name] = rows.front().at(name);
    launches_.push_back({*time, *processor});
    return true;
}

Launches::Medians Launches::medians() const {
    std::vector<double> times;
    std::vector<double> processors;
    for (Launch const& launch : launches_) {
        times.push_back(launch.time);
        processors.push_back(launch.processor);
    }
    return {median_of(times), median_of(processors)};
}

Launches::Launch Launches::greatest() const {
    Launch greatest{0, 0};
    for (Launch const& launch : launches_)
        greatest = {std::max(greatest.time, launch.time), std::max(greatest.processor, launch.processor)};
    return greatest;
}

std::vector<Row> Launches::rows() const {
    std::vector<Row> rows;
    if (launches_.empty()) return rows;
    Medians const median = medians();
    for (std::size_t i = 0; i < launches_.size(); ++i) {
        Row row = cell_;
        row["launch"] = i + 1;
        row["ratio"] = k_ratio;
        row["time"] = launches_[i].time;
        row["processor"] = launches_[i].processor / median.processor;
        rows.push_back(row);
    }
    Row all = cell_;
    all["launches"] = launches_.size();
    all["median"] = {{"time", median.time}, {"processor_seconds", median.processor}};
    all["greatest"] = {{"time", greatest().time / median.time}, {"processor", greatest().processor / median.processor}};
    rows.push_back(all);
    return rows;
}

std::string Launches::table() const {
    if (launches_.empty()) return {};
    Medians const median = medians();
    std::string text = redistribute_title(cell_) + "\n" +
                       fmt::format("  {:>6} {:>17} {:>22}\n", "launch", "token/better peer", "processor time/median");
    for (std::size_t i = 0; i < launches_.size(); ++i)
        text += fmt::format("  {:>6} {:>17.3f} {:>22.3f}\n", i + 1, launches_[i].time,
                            launches_[i].processor / median.processor);
    text += fmt::format("  {:>6} {:>17.3f} {:>20.1f} ms\n", "median", median.time, median.processor * 1e3);
    return text + fmt::format("  the greatest over the median: time {:.3f}, processor time {:.3f}\n",
                              greatest().time / median.time, greatest().processor / median.processor);
}

}  // namespace sluice::cli
