// SPDX-License-Identifier: BSD-3-Clause
/// Hilbert's curve over a square of 2^order × 2^order cells: cells that follow each other on the curve are neighbours
/// in the plane, so a stretch of the curve is a compact region. (D. Hilbert, Mathematische Annalen 38, 1891.)
///
/// Each square consists of four smaller ones, visited in the order 0 1 2 3; the curve inside 0 is mirrored at the
/// diagonal, inside 3 at the other diagonal, so that the ends meet:
///
///      1 → 2
///      ↑   ↓
///      0   3
#pragma once

#include <cstdint>
#include <utility>

namespace examples {

struct Cell {
    std::uint32_t x = 0;
    std::uint32_t y = 0;
    constexpr bool operator==(Cell const&) const = default;
};

namespace detail {

/// Mirrors a cell of a square of `side` cells as the curve is mirrored in the quarter (right, upper). The function is
/// its own inverse.
constexpr Cell mirrored(Cell cell, std::uint32_t side, bool right, bool upper) {
    if (upper) return cell;
    if (right) cell = {side - 1 - cell.x, side - 1 - cell.y};
    std::swap(cell.x, cell.y);
    return cell;
}

}  // namespace detail

/// Returns how many cells the curve visits before `cell`. `order` is at most 31, both coordinates are below 2^order.
constexpr std::uint64_t hilbert_position(unsigned order, Cell cell) {
    std::uint64_t position = 0;
    for (std::uint32_t side = std::uint32_t{1} << order >> 1; side > 0; side /= 2) {
        bool const right = (cell.x & side) != 0;
        bool const upper = (cell.y & side) != 0;
        std::uint64_t const quarter = right ? (upper ? 2 : 3) : (upper ? 1 : 0);
        position += quarter * side * side;
        cell = detail::mirrored({cell.x & (side - 1), cell.y & (side - 1)}, side, right, upper);
    }
    return position;
}

/// Returns the cell at `position`: the inverse of hilbert_position.
constexpr Cell hilbert_cell(unsigned order, std::uint64_t position) {
    Cell cell;
    for (unsigned level = 0; level < order; ++level) {
        std::uint32_t const side = std::uint32_t{1} << level;
        std::uint64_t const quarter = position >> (2 * level) & 3;
        bool const right = quarter >= 2;
        bool const upper = quarter == 1 || quarter == 2;
        cell = detail::mirrored(cell, side, right, upper);
        cell.x += right ? side : 0;
        cell.y += upper ? side : 0;
    }
    return cell;
}

}  // namespace examples
