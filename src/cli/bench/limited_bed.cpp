// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/limited_bed.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "cli/support/installation.hpp"

namespace sluice::cli {

namespace {

/// Keeps the highest point of each interval of time.
std::vector<std::pair<double, double>> thinned(std::vector<std::pair<double, double>> const& all, std::size_t most) {
    if (all.size() <= most) return all;
    std::vector<std::pair<double, double>> kept;
    double const width = (all.back().first - all.front().first) / static_cast<double>(most);
    for (auto const& point : all) {
        double const end = static_cast<double>(kept.size()) * width;
        if (kept.empty() || point.first >= end)
            kept.push_back(point);
        else if (point.second > kept.back().second)
            kept.back() = point;
    }
    return kept;
}

}  // namespace

LimitedRun::LimitedRun(Limits limits)
    : limits_(limits), folder_((std::filesystem::temp_directory_path() / "sluice-limited-XXXXXX").string()) {
    auto const script = bed_script("limited");
    if (!script) throw std::runtime_error("the script of bed limited is not next to this command");
    script_ = script->string();
    if (mkdtemp(folder_.data()) == nullptr)
        throw std::runtime_error("cannot make the folder " + folder_ + ": " + std::strerror(errno));
}

LimitedRun::~LimitedRun() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

std::vector<std::string> LimitedRun::prefix() const {
    std::vector<std::string> words{script_,
                                   "--memory",
                                   fmt::format("{}MiB", limits_.node_mib),
                                   "--timeout",
                                   fmt::format("{}", limits_.seconds),
                                   "--processes",
                                   std::to_string(limits_.processes),
                                   "--report",
                                   folder_ + "/report.json"};
    if (limits_.nodes > 1) words.insert(words.end(), {"--nodes", std::to_string(limits_.nodes)});
    if (limits_.swap_mib > 0 && geteuid() == 0)
        words.insert(words.end(), {"--swap", fmt::format("{}MiB", limits_.swap_mib)});
    if (limits_.samples) words.insert(words.end(), {"--samples", folder_ + "/samples.csv", "--interval", "2"});
    words.emplace_back("--");
    return words;
}

nlohmann::json LimitedRun::report() const {
    std::ifstream file(folder_ + "/report.json");
    nlohmann::json report = nlohmann::json::parse(file, nullptr, false);
    return report.is_discarded() ? nlohmann::json() : report;
}

std::vector<std::pair<double, double>> LimitedRun::curve(std::size_t most) const {
    std::ifstream file(folder_ + "/samples.csv");
    std::string line;
    std::getline(file, line);  // skips the names of columns
    std::vector<std::pair<double, double>> points;
    double first = 0;
    while (std::getline(file, line)) {
        std::size_t const comma = line.find(',');
        if (comma == std::string::npos) continue;
        double const at = std::strtod(line.c_str(), nullptr);
        if (points.empty()) first = at;
        points.emplace_back(at - first, std::strtod(line.c_str() + comma + 1, nullptr) / (1 << 20));
    }
    return thinned(points, most);
}

}  // namespace sluice::cli
