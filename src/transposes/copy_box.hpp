// SPDX-License-Identifier: BSD-3-Clause
/// Copies a box of elements between two arrays that may be stored in different orders. Allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transposes/geometry.hpp"

namespace sluice::transposes {

/// Where a box lies: the address of its first element, and the bytes from an element to the next one along each role.
struct Place {
    std::byte* first = nullptr;
    Extents strides{};

    Place moved(std::int64_t bytes) const noexcept { return {first + bytes, strides}; }
};

/// What happens to an element on the way. The number of bytes is always that of the element in the array.
enum class Change : std::uint8_t {
    none,
    narrow,  ///< doubles become floats
    widen,   ///< floats become doubles
};

/// `element`: bytes of an element in the array. Copies run by run where both orders have the same innermost axis, and
/// tile by tile, so that cache lines are used whole, where they have not.
void copy_box(Place const& to, Place const& from, Extents const& extents, std::int64_t element,
              Change change = Change::none) noexcept;

}  // namespace sluice::transposes
