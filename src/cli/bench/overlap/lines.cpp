// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/overlap/lines.hpp"

#include <algorithm>
#include <limits>
#include <sstream>
#include <string_view>

namespace sluice::cli {

std::size_t OverlapRounds::whole() const {
    if (seconds.empty()) return 0;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (auto const& [method, rounds] : seconds)
        least = std::min(least, rounds.size());
    return least;
}

std::vector<double> const* OverlapRounds::find(std::string const& method) const {
    auto const found = seconds.find(method);
    return found != seconds.end() ? &found->second : nullptr;
}

OverlapRounds const* OverlapLines::find(std::string const& name, std::uint64_t bytes) const {
    auto const found = std::find_if(cells_.begin(), cells_.end(), [&](OverlapRounds const& cell) {
        return cell.name == name && cell.bytes == bytes;
    });
    return found != cells_.end() ? &*found : nullptr;
}

OverlapRounds& OverlapLines::cell(std::string const& name, std::uint64_t bytes) {
    if (OverlapRounds const* const known = find(name, bytes))
        return cells_[static_cast<std::size_t>(known - cells_.data())];
    OverlapRounds& made = cells_.emplace_back();
    made.name = name;
    made.bytes = bytes;
    return made;
}

void OverlapLines::take(std::string const& line) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "between") {
        std::string answer;
        words >> answer;
        between_ = answer == "yes" && (between_ || !told_);
        told_ = true;
    } else if (what == "round") {
        std::string name;
        std::string method;
        std::uint64_t bytes = 0;
        double seconds = 0;
        if (words >> name >> bytes >> method >> seconds) cell(name, bytes).seconds[method].push_back(seconds);
    } else if (what == "latency") {
        double program = 0;
        double straight = 0;
        if (words >> program >> straight) latency_.emplace_back(program, straight);
    } else if (what == "delayed") {
        int rank = 0;
        double waited = 0;
        double of = 0;
        if (words >> rank >> waited >> of && of > 0) delayed_ = std::max(delayed_, waited / of);
    } else if (what == "idle") {
        OverlapWakeUps woken;
        if (words >> woken.rank >> woken.seconds >> woken.count >> std::ws && std::getline(words, woken.thread))
            wake_ups_.push_back(woken);
    }
}

std::vector<std::string> said_of_overlap(std::string const& summary) {
    constexpr std::string_view k_hidden = "sluice: hidden ";
    constexpr std::string_view k_continued = "sluice:            ";
    constexpr std::string_view k_counters = "overlap: ";
    std::vector<std::string> said;
    bool goes_on = false;
    std::istringstream lines(summary);
    for (std::string line; std::getline(lines, line);) {
        std::string_view rest = line;
        bool const continued = rest.starts_with(k_continued);
        bool const hidden = rest.starts_with(k_hidden);
        if (continued) rest.remove_prefix(k_continued.size());
        if (hidden) rest.remove_prefix(std::string_view("sluice: ").size());
        if (hidden || (continued && rest.starts_with(k_counters)))
            said.emplace_back(rest);
        else if (continued && goes_on)
            said.back().append(" ").append(rest);
        else {
            goes_on = false;
            continue;
        }
        goes_on = true;
    }
    return said;
}

}  // namespace sluice::cli
