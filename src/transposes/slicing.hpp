// SPDX-License-Identifier: BSD-3-Clause
/// How the array is cut, so that a step fits into the staging. All members of a group cut alike.
///
///     part of x before:   | slice 0 | slice 1 | slice 2 | …        cut along x: all parts end together, whatever their
///     another part:       | slice 0| slice 1| slice 2| …           sizes, and each member sends and receives at an
///                                                                  even pace
///
/// A row is what one x has: all y, a range of z. If not even one row fits, z is cut into chunks first. If x is not the
/// outermost axis, but z is, slices are cut along z. Constant size.
#pragma once

#include <cstdint>

#include "sluice/transpose.hpp"
#include "transposes/geometry.hpp"

namespace sluice::transposes {

/// Which way an exchange goes.
struct Manner {
    bool in_place = false;
    WireType wire = WireType::as_stored;
};

class Slicing {
  public:
    /// The least staging with which an exchange can go on.
    static Bytes least_staging(Geometry const& geometry, WireType wire) noexcept;
    /// More staging than this is not used.
    static Bytes most_staging(Geometry const& geometry, WireType wire) noexcept;
    /// `staging` is at least the least one, and the same on all members.
    Slicing(Geometry const& geometry, Manner const& manner, Bytes staging) noexcept;

    bool is_along_z() const noexcept { return along_z_; }
    /// Whether cells are received straight into the array, where they are in the order of slices. If not, they go
    /// through staging.
    bool is_straight() const noexcept { return straight_; }
    std::int64_t slices() const noexcept { return slices_; }
    std::int64_t chunks() const noexcept { return chunks_; }
    std::int64_t steps() const noexcept { return slices_ * chunks_; }
    /// The size of each area of the staging: two for sending, and two for receiving unless it is straight.
    std::int64_t area() const noexcept { return area_; }

    /// The range of z in a step.
    std::int64_t z_begin(std::int64_t step) const noexcept {
        return along_z_ ? nz_ * step / slices_ : nz_ * (step / slices_) / chunks_;
    }
    std::int64_t z_count(std::int64_t step) const noexcept {
        std::int64_t const end = along_z_ ? nz_ * (step + 1) / slices_ : nz_ * (step / slices_ + 1) / chunks_;
        return end - z_begin(step);
    }
    std::int64_t slice_of(std::int64_t step) const noexcept { return step % slices_; }
    /// The range of x that a member's part has in a step, counted from the beginning of the part.
    std::int64_t x_begin(Parts const& x, int member, std::int64_t step) const noexcept {
        return along_z_ ? 0 : x.slice_begin(member, slice_of(step), slices_);
    }
    std::int64_t x_count(Parts const& x, int member, std::int64_t step) const noexcept {
        return along_z_ ? x.size(member)
                        : x.slice_begin(member, slice_of(step) + 1, slices_) - x_begin(x, member, step);
    }
    /// The sum of x_count() over the members before `member`.
    std::int64_t x_before(Parts const& x, int member, std::int64_t step) const noexcept {
        if (along_z_) return x.begin(member);
        return x.slices_before(member, slice_of(step) + 1, slices_) - x.slices_before(member, slice_of(step), slices_);
    }

  private:
    void cut_along_x(Geometry const& geometry, Manner const& manner) noexcept;

    std::int64_t nz_;
    bool along_z_ = false;
    bool straight_ = false;
    std::int64_t slices_ = 1;
    std::int64_t chunks_ = 1;
    std::int64_t area_ = 0;
};

/// Bytes of an element on its way to another rank.
inline std::int64_t wire_bytes(std::int64_t element, WireType wire) noexcept {
    return wire == WireType::as_stored ? element : element / 2;
}

}  // namespace sluice::transposes
