// SPDX-License-Identifier: BSD-3-Clause
#include "transposes/geometry.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace sluice::transposes {

namespace {

constexpr std::array<int, 3> k_axes{0, 1, 2};

template <typename T>
T at(std::array<T, 3> const& values, int axis) {
    return values[static_cast<std::size_t>(axis)];
}

[[noreturn]] void refuse(std::string const& text) {
    throw Error(ErrorCode::invalid_argument, text);
}

template <typename T>
std::string listed(std::array<T, 3> const& values, char const* between) {
    return std::to_string(values[0]) + between + std::to_string(values[1]) + between + std::to_string(values[2]);
}

std::string text_of(ArrayLayout const& layout) {
    std::string text = "grid " + listed(layout.grid, " x ") + ", order " + listed(layout.order, " ");
    if (layout.block != std::array<std::int64_t, 3>{}) text += ", blocks " + listed(layout.block, " ");
    return text;
}

std::int64_t ranks_of(ArrayLayout const& layout) {
    return std::int64_t{layout.grid[0]} * layout.grid[1] * layout.grid[2];
}

Parts parts_along(std::array<std::int64_t, 3> const& extents, ArrayLayout const& layout, int axis) {
    return {at(extents, axis), at(layout.grid, axis), at(layout.block, axis)};
}

/// The number of a rank's part along an axis.
int part_number(ArrayLayout const& layout, int rank, int axis) {
    int inner = 1;
    for (int after = axis + 1; after < 3; ++after)
        inner *= at(layout.grid, after);
    return rank / inner % at(layout.grid, axis);
}

}  // namespace

void check(std::array<std::int64_t, 3> const& extents, ArrayLayout const& layout) {
    std::int64_t ranks = 1;
    for (int const axis : k_axes) {
        std::string const along = " along axis " + std::to_string(axis);
        if (at(extents, axis) < 0) refuse("an array of " + std::to_string(at(extents, axis)) + " elements" + along);
        int const parts = at(layout.grid, axis);
        if (parts < 1) refuse("a layout of " + std::to_string(parts) + " parts" + along);
        ranks *= parts;
        if (ranks > std::numeric_limits<int>::max()) refuse("the grid " + listed(layout.grid, " x ") + " is too large");
        std::int64_t const block = at(layout.block, axis);
        if (block < 0 || (block > 0 && block < at(extents, axis) / parts + (at(extents, axis) % parts != 0 ? 1 : 0)))
            refuse(std::to_string(parts) + " blocks of " + std::to_string(block) + " do not hold the " +
                   std::to_string(at(extents, axis)) + " elements" + along);
    }
    std::array<int, 3> sorted = layout.order;
    std::ranges::sort(sorted);
    if (sorted != k_axes)
        refuse("the order " + listed(layout.order, " ") + " does not name each of the axes 0, 1, 2 once");
}

namespace {

void check_all(ArrayShape const& shape, ArrayLayout const& before, ArrayLayout const& after, int ranks) {
    check(shape.extents, before);
    check(shape.extents, after);
    for (ArrayLayout const* layout : {&before, &after})
        if (ranks_of(*layout) != ranks)
            refuse("the grid " + listed(layout->grid, " x ") + " has " + std::to_string(ranks_of(*layout)) +
                   " parts for " + std::to_string(ranks) + " ranks");
    if (shape.element.count == 0) refuse("elements have 0 bytes");
    std::uint64_t left = (std::uint64_t{1} << 60) / shape.element.count;
    for (std::int64_t const extent : shape.extents)
        if (extent > 0) left /= static_cast<std::uint64_t>(extent);
    if (left == 0)
        refuse("an array of " + listed(shape.extents, " x ") + " elements of " + std::to_string(shape.element.count) +
               " bytes does not fit into an address space");
}

}  // namespace

Geometry::Axes Geometry::axes_of(ArrayShape const& shape, ArrayLayout const& before, ArrayLayout const& after,
                                 int ranks) {
    check_all(shape, before, after, ranks);
    Axes axes{-1, -1, -1};
    int differing = 0;
    for (int const axis : k_axes) {
        if (at(before.grid, axis) == at(after.grid, axis)) {
            axes.z = axis;
            continue;
        }
        ++differing;
        if (at(after.grid, axis) == 1) axes.x = axis;
        if (at(before.grid, axis) == 1) axes.y = axis;
    }
    if (differing == 0) return {0, 1, 2};
    bool const is_transpose = differing == 2 && axes.x >= 0 && axes.y >= 0;
    bool const same_groups = is_transpose && (at(before.grid, axes.z) == 1 || (axes.x < axes.z) == (axes.y < axes.z));
    if (!same_groups || at(before.grid, axes.x) != at(after.grid, axes.y) ||
        at(before.block, axes.z) != at(after.block, axes.z))
        refuse(
            "no transpose leads from " + text_of(before) + " to " + text_of(after) +
            ": one axis that is divided before must be whole afterwards, another one divided into as many parts, and "
            "the third divided alike among the same ranks; between other layouts go in two steps");
    return axes;
}

Geometry::Geometry(ArrayShape const& shape, ArrayLayout const& before, ArrayLayout const& after, int rank,
                   Axes const& axes)
    : element_(static_cast<std::int64_t>(shape.element.count)),
      rank_(rank),
      x_(parts_along(shape.extents, before, axes.x)),
      y_(parts_along(shape.extents, after, axes.y)) {
    if (before.grid == after.grid) {  // the group is this rank alone, and the array its part
        ArrayPart const part = part_of(shape.extents, before, rank);
        if (before.block != after.block)
            refuse("blocks differ before and afterwards, and no axis changes: " + text_of(before) + "; " +
                   text_of(after));
        x_ = Parts(part.extent(0), 1, 0);
        y_ = Parts(part.extent(1), 1, 0);
        nz_ = part.extent(2);
    } else {
        me_ = part_number(before, rank, axes.x);
        stride_ = axes.x < axes.z ? at(before.grid, axes.z) : 1;
        nz_ = parts_along(shape.extents, before, axes.z).size(part_number(before, rank, axes.z));
    }
    auto const role = [&](int axis) { return axis == axes.x ? k_x : axis == axes.y ? k_y : k_z; };
    for (std::size_t i = 0; i < 3; ++i) {
        order_before_[i] = role(before.order[i]);
        order_after_[i] = role(after.order[i]);
    }
}

Geometry::Geometry(ArrayShape const& shape, ArrayLayout const& before, ArrayLayout const& after, int rank, int ranks)
    : Geometry(shape, before, after, rank, axes_of(shape, before, after, ranks)) {}

Extents strides_of(Extents const& extents, Order const& order, std::int64_t element) noexcept {
    Extents strides{};
    std::int64_t stride = element;
    for (std::size_t i = 3; i-- > 0;) {
        strides[order[i]] = stride;
        stride *= extents[order[i]];
    }
    return strides;
}

std::string text_of(ArrayShape const& shape, ArrayLayout const& before, ArrayLayout const& after) {
    return listed(shape.extents, " x ") + " elements of " + std::to_string(shape.element.count) + " bytes, from " +
           text_of(before) + " to " + text_of(after);
}

}  // namespace sluice::transposes

namespace sluice {

ArrayLayout slabs(int axis, int ranks, std::array<int, 3> const& order) {
    ArrayLayout layout;
    if (axis < 0 || axis > 2)
        throw Error(ErrorCode::invalid_argument, "an array of three axes has no axis " + std::to_string(axis));
    layout.grid[static_cast<std::size_t>(axis)] = ranks;
    layout.order = order;
    return layout;
}

ArrayLayout pencils(int along, int rows, int columns, std::array<int, 3> const& order) {
    ArrayLayout layout = slabs(along, 1, order);
    layout.grid[along == 0 ? 1 : 0] = rows;
    layout.grid[along == 2 ? 1 : 2] = columns;
    return layout;
}

ArrayPart part_of(std::array<std::int64_t, 3> const& extents, ArrayLayout const& layout, int rank) {
    transposes::check(extents, layout);
    if (rank < 0 || rank >= transposes::ranks_of(layout))
        throw Error(ErrorCode::invalid_argument, "a layout of " + std::to_string(transposes::ranks_of(layout)) +
                                                     " parts has none for rank " + std::to_string(rank));
    ArrayPart part;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        auto const parts = transposes::parts_along(extents, layout, static_cast<int>(axis));
        int const number = transposes::part_number(layout, rank, static_cast<int>(axis));
        part.begin[axis] = parts.begin(number);
        part.end[axis] = part.begin[axis] + parts.size(number);
    }
    return part;
}

}  // namespace sluice
