// SPDX-License-Identifier: BSD-3-Clause
#include "world_curve.hpp"

#include <algorithm>
#include <numeric>

#include "../../common/hilbert.hpp"

namespace coastline {

namespace {

constexpr unsigned k_order = 9;
constexpr std::uint32_t k_side = 1U << k_order;

std::uint64_t on_curve(std::uint32_t bin, std::uint32_t columns, std::uint32_t rows) {
    std::uint32_t const from_south = rows - 1 - bin / columns;
    return examples::hilbert_position(k_order, {bin % columns * k_side / columns, from_south * (k_side / 2) / rows});
}

}  // namespace

WorldCurve::WorldCurve(std::uint32_t columns, std::span<std::uint32_t const> blocks_of_bin)
    : place_of_bin_(blocks_of_bin.size()), bin_at_(blocks_of_bin.size()), first_(blocks_of_bin.size() + 1) {
    auto const rows = static_cast<std::uint32_t>(blocks_of_bin.size()) / columns;
    std::iota(bin_at_.begin(), bin_at_.end(), 0U);
    std::sort(bin_at_.begin(), bin_at_.end(), [&](std::uint32_t a, std::uint32_t b) {
        auto const on_a = on_curve(a, columns, rows);
        auto const on_b = on_curve(b, columns, rows);
        return on_a != on_b ? on_a < on_b : a < b;
    });
    for (std::size_t place = 0; place < bin_at_.size(); ++place) {
        place_of_bin_[bin_at_[place]] = static_cast<std::uint32_t>(place);
        first_[place + 1] = first_[place] + blocks_of_bin[bin_at_[place]];
    }
}

WorldCurve::Key WorldCurve::at(std::uint64_t position) const {
    auto const after = std::upper_bound(first_.begin(), first_.end(), position);
    auto const place = static_cast<std::size_t>(after - first_.begin()) - 1;
    return {bin_at_.at(place), static_cast<std::uint32_t>(position - first_[place])};
}

}  // namespace coastline
