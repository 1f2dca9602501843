// SPDX-License-Identifier: BSD-3-Clause
#include "transposes/in_place.hpp"

#include <algorithm>
#include <utility>

#include "transposes/copy_box.hpp"

namespace sluice::transposes {

void transpose_matrix(std::byte* data, Matrix const& matrix, std::span<std::byte> scratch) noexcept {
    if (matrix.rows <= 1 || matrix.columns <= 1) return;
    auto const bytes = static_cast<std::size_t>(matrix.bytes());
    if (bytes <= scratch.size()) {
        std::memcpy(scratch.data(), data, bytes);
        Place const from{scratch.data(), {matrix.columns * matrix.unit, matrix.unit, 0}};
        Place const to{data, {matrix.unit, matrix.rows * matrix.unit, 0}};
        copy_box(to, from, {matrix.rows, matrix.columns, 1}, matrix.unit);
        return;
    }
    auto const rows = static_cast<std::uint64_t>(matrix.rows);
    auto const columns = static_cast<std::uint64_t>(matrix.columns);
    permute_in_place(data, rows * columns, static_cast<std::uint64_t>(matrix.unit), scratch,
                     [=](std::uint64_t at) { return at % rows * columns + at / rows; });
}

namespace {

/// Makes the axis at `position` of an order the one before it.
void swap_axes(std::byte* data, Extents const& extents, Order& order, std::size_t position, std::int64_t element,
               std::span<std::byte> scratch) noexcept {
    Matrix matrix{extents[order[position - 1]], extents[order[position]], element};
    std::int64_t repeated = 1;
    for (std::size_t i = 0; i < 3; ++i) {
        if (i < position - 1) repeated *= extents[order[i]];
        if (i > position) matrix.unit *= extents[order[i]];
    }
    std::swap(order[position - 1], order[position]);
    for (std::int64_t i = 0; i < repeated; ++i)
        transpose_matrix(data + i * matrix.bytes(), matrix, scratch);
}

}  // namespace

Settled::Settled(std::span<std::byte> scratch, std::uint64_t units) noexcept {
    std::uint64_t const needed = units / 8 + 1;
    if (needed <= scratch.size() / 2) bits_ = scratch.last(needed);
}

void reorder_in_place(std::byte* data, Extents const& extents, Order const& from, Order const& to, std::int64_t element,
                      std::span<std::byte> scratch) noexcept {
    if (elements_of(extents) == 0) return;
    Order order = from;
    for (std::size_t target = 0; target < 3; ++target) {
        auto at = static_cast<std::size_t>(std::ranges::find(order, to[target]) - order.begin());
        for (; at > target; --at)
            swap_axes(data, extents, order, at, element, scratch);
    }
}

}  // namespace sluice::transposes
