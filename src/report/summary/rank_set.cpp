// SPDX-License-Identifier: BSD-3-Clause
#include "report/summary/rank_set.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice::report {

RankSet::RankSet(std::uint64_t count, std::vector<std::uint32_t> lowest) : count_(count), lowest_(std::move(lowest)) {
    std::sort(lowest_.begin(), lowest_.end());
    lowest_.erase(std::unique(lowest_.begin(), lowest_.end()), lowest_.end());
    lowest_.resize(std::min({lowest_.size(), k_named, static_cast<std::size_t>(count)}));
}

void RankSet::add(RankSet const& other) {
    std::vector<std::uint32_t> both;
    std::merge(lowest_.begin(), lowest_.end(), other.lowest_.begin(), other.lowest_.end(), std::back_inserter(both));
    count_ += other.count_;
    both.resize(std::min(both.size(), k_named));
    lowest_ = std::move(both);
}

std::string RankSet::text(std::uint64_t all, std::size_t most) const {
    if (count_ == 0) return "no rank";
    if (count_ == all && all == 2) return "both ranks";
    if (count_ == all && all > 1) return "all " + std::to_string(all) + " ranks";
    std::string result = count_ == 1 ? "rank " : "ranks ";
    std::uint64_t named = 0;
    std::size_t ranges = 0;
    for (std::size_t i = 0; i < lowest_.size() && ranges < most; ++ranges) {
        std::size_t last = i;
        while (last + 1 < lowest_.size() && lowest_[last + 1] == lowest_[last] + 1)
            ++last;
        if (ranges > 0) result += ", ";
        result += std::to_string(lowest_[i]);
        if (last > i) result += (last == i + 1 ? ", " : "-") + std::to_string(lowest_[last]);
        named += last - i + 1;
        i = last + 1;
    }
    if (named == 0) return std::to_string(count_) + (count_ == 1 ? " rank" : " ranks");
    if (named < count_) result += " and " + std::to_string(count_ - named) + " others";
    return result;
}

}  // namespace sluice::report
