// SPDX-License-Identifier: BSD-3-Clause
#include "base/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace sluice::base {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);  // distances from the first i letters of a to each beginning of b
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            std::size_t const replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row[b.size()];
}

std::string_view nearest(std::string_view name, std::span<std::string_view const> known) {
    auto const closer = [&](std::string_view a, std::string_view b) {
        return edit_distance(name, a) < edit_distance(name, b);
    };
    auto const found = std::min_element(known.begin(), known.end(), closer);
    return found == known.end() ? std::string_view{} : *found;
}

}  // namespace sluice::base
