// SPDX-License-Identifier: BSD-3-Clause
/// What one transpose means for this rank. The axes get names by their roles:
///
///     x   divided before, whole afterwards       ranks that exchange: a group of `members`, one for each part of x,
///     y   whole before, divided afterwards       which is also one for each part of y
///     z   alike in both; a group has one range of it
///
/// So pencils are slabs: the group exchanges an array of all x, all y and its own z. If only the orders differ, the
/// group is this rank alone. Constant size.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sluice/transpose.hpp"
#include "transposes/parts.hpp"

namespace sluice::transposes {

/// The roles, as indices.
enum Role : std::size_t { k_x, k_y, k_z };
using Extents = std::array<std::int64_t, 3>;  ///< indexed by role
using Order = std::array<Role, 3>;            ///< slowest first

/// Throws Error(invalid_argument).
void check(std::array<std::int64_t, 3> const& extents, ArrayLayout const& layout);

class Geometry {
  public:
    /// Throws Error(invalid_argument) for a shape or layouts that do not belong together.
    Geometry(ArrayShape const& shape, ArrayLayout const& before, ArrayLayout const& after, int rank, int ranks);

    std::int64_t element() const noexcept { return element_; }
    Parts const& x() const noexcept { return x_; }
    Parts const& y() const noexcept { return y_; }
    /// The extent of z in this group.
    std::int64_t nz() const noexcept { return nz_; }
    int members() const noexcept { return x_.count(); }
    int me() const noexcept { return me_; }
    /// The rank of a member in the context.
    int rank_of(int member) const noexcept { return rank_ + (member - me_) * stride_; }

    /// This rank's part by roles, and how it is stored.
    Extents before() const noexcept { return {x_.size(me_), y_.extent(), nz_}; }
    Extents after() const noexcept { return {x_.extent(), y_.size(me_), nz_}; }
    Order const& order_before() const noexcept { return order_before_; }
    Order const& order_after() const noexcept { return order_after_; }

  private:
    struct Axes {
        int x = 0;
        int y = 1;
        int z = 2;
    };
    static Axes axes_of(ArrayShape const& shape, ArrayLayout const& before, ArrayLayout const& after, int ranks);
    Geometry(ArrayShape const& shape, ArrayLayout const& before, ArrayLayout const& after, int rank, Axes const& axes);

    std::int64_t element_;
    int rank_;
    Parts x_;
    Parts y_;
    std::int64_t nz_ = 0;
    int me_ = 0;
    int stride_ = 1;
    Order order_before_{};
    Order order_after_{};
};

inline std::int64_t elements_of(Extents const& extents) noexcept {
    return extents[k_x] * extents[k_y] * extents[k_z];
}

/// The distances between neighbours along each role, for elements of that many bytes stored in an order.
Extents strides_of(Extents const& extents, Order const& order, std::int64_t element) noexcept;

/// All arguments as a text: ranks compare it, and people read it if they differ.
std::string text_of(ArrayShape const& shape, ArrayLayout const& before, ArrayLayout const& after);

}  // namespace sluice::transposes
