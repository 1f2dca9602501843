// SPDX-License-Identifier: BSD-3-Clause
#include "transposes/slicing.hpp"

#include <algorithm>

namespace sluice::transposes {

namespace {

constexpr std::int64_t k_line = 64;
constexpr std::int64_t k_largest_area = std::int64_t{1} << 30;  // a message has at most 2 GiB

std::int64_t rounded_up(std::int64_t bytes) {
    return (bytes + k_line - 1) / k_line * k_line;
}

std::int64_t divided_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

bool goes_straight(Manner const& manner, bool along_z) {
    return manner.in_place && manner.wire == WireType::as_stored && !along_z;
}

int areas_of(bool straight) {
    return straight ? 2 : 4;
}

/// The bytes of an area in which `rows` of x with `z` elements each leave, or come from all members. What stays on this
/// rank keeps its size, after the cells that are narrower.
std::int64_t area_for(Geometry const& geometry, WireType type, std::int64_t rows, std::int64_t z) {
    std::int64_t const wire = wire_bytes(geometry.element(), type);
    std::int64_t const own = wire == geometry.element() ? 0 : geometry.element() * geometry.y().largest();
    std::int64_t const leaving = rows * z * (wire * geometry.y().extent() + own);
    std::int64_t const all_rows = std::min(geometry.x().extent(), rows * geometry.members());
    return rounded_up(std::max(leaving, all_rows * z * wire * geometry.y().largest()));
}

/// Slices along z need no order of their own: what a slice leaves is what it fills, if z is outermost.
bool prefers_z(Geometry const& geometry, Manner const& manner) {
    bool const before = geometry.order_before()[0] == k_z;
    return manner.in_place ? before && geometry.order_after()[0] == k_z : before;
}

}  // namespace

Bytes Slicing::least_staging(Geometry const& geometry, WireType wire) noexcept {
    constexpr std::int64_t k_scratch = 4096;  // for permutations in place
    // Not by nz, which differs between groups: all ranks have the same staging.
    std::int64_t const least = areas_of(false) * area_for(geometry, wire, 1, 1);
    return {static_cast<std::uint64_t>(std::max(least, k_scratch))};
}

Bytes Slicing::most_staging(Geometry const& geometry, WireType wire) noexcept {
    std::int64_t const all = area_for(geometry, wire, geometry.x().largest(), geometry.nz());
    return std::max(least_staging(geometry, wire), Bytes{4 * static_cast<std::uint64_t>(all)});
}

Slicing::Slicing(Geometry const& geometry, Manner const& manner, Bytes staging) noexcept : nz_(geometry.nz()) {
    auto const areas = [&] {
        auto const each = static_cast<std::int64_t>(staging.count) / areas_of(straight_) / k_line * k_line;
        return std::min(each, k_largest_area);
    };
    area_ = areas();
    std::int64_t const layer = area_for(geometry, manner.wire, geometry.x().largest(), 1);
    along_z_ = prefers_z(geometry, manner) && layer <= area_;
    if (along_z_) {
        slices_ =
            std::max<std::int64_t>(1, divided_up(nz_, std::max<std::int64_t>(1, area_ / std::max(k_line, layer))));
        return;
    }
    straight_ = goes_straight(manner, false);
    area_ = areas();
    cut_along_x(geometry, manner);
    if (chunks_ > 1 && straight_) {  // rows with gaps between them cannot be received straight
        straight_ = false;
        area_ = areas();
        cut_along_x(geometry, manner);
    }
}

void Slicing::cut_along_x(Geometry const& geometry, Manner const& manner) noexcept {
    std::int64_t const largest = std::max<std::int64_t>(1, geometry.x().largest());
    std::int64_t z = std::max<std::int64_t>(1, nz_);
    if (area_for(geometry, manner.wire, 1, z) > area_)
        z = std::max<std::int64_t>(1, z * area_ / area_for(geometry, manner.wire, 1, z) - 1);
    while (z > 1 && area_for(geometry, manner.wire, 1, z) > area_)
        --z;
    chunks_ = std::max<std::int64_t>(1, divided_up(nz_, z));
    z = std::max<std::int64_t>(1, divided_up(nz_, chunks_));
    std::int64_t rows = std::max<std::int64_t>(1, area_ / std::max(k_line, area_for(geometry, manner.wire, 1, z)));
    rows = std::min(rows, largest);
    slices_ = divided_up(largest, rows);
    if (!geometry.x().all_equal()) return;
    // Slices of equal size make larger units for the permutation afterwards.
    for (std::int64_t slices = slices_; slices <= 2 * slices_; ++slices)
        if (largest % slices == 0) {
            slices_ = slices;
            return;
        }
}

}  // namespace sluice::transposes
