// SPDX-License-Identifier: BSD-3-Clause
#include "base/counters.hpp"

namespace sluice::base {

Counter& Counters::named(std::string_view name) {
    for (Counter& counter : counters_)
        if (counter.name() == name) return counter;
    return counters_.emplace_back(std::string(name));
}

std::vector<std::pair<std::string, std::uint64_t>> Counters::values() const {
    std::vector<std::pair<std::string, std::uint64_t>> result;
    for (Counter const& counter : counters_)
        result.emplace_back(counter.name(), counter.value());
    return result;
}

}  // namespace sluice::base
