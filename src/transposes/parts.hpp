// SPDX-License-Identifier: BSD-3-Clause
/// The parts into which one axis is divided, and the slices of these parts. Constant size; nothing is listed.
///
///     part 0            part 1            part 2         extent = 11, 3 parts: 4, 4, 3
///     | s0 | s1         | s0 | s1         | s0 | s1      2 slices of each part: slice s ends at size * (s + 1) /
///     slices
#pragma once

#include <algorithm>
#include <cstdint>

namespace sluice::transposes {

class Parts {
  public:
    /// `block` as ArrayLayout::block. The numbers have been checked.
    Parts(std::int64_t extent, int count, std::int64_t block) noexcept
        : extent_(extent), count_(count), small_(block != 0 ? 0 : extent / count) {
        std::int64_t const each = block != 0 ? block : small_ + 1;
        large_ = each;
        larges_ = block != 0 ? extent / block : extent % count;
        middle_ = block != 0 ? extent % block : small_;
    }

    std::int64_t extent() const noexcept { return extent_; }
    int count() const noexcept { return count_; }
    std::int64_t size(std::int64_t part) const noexcept {
        return part < larges_ ? large_ : part == larges_ ? middle_ : small_;
    }
    std::int64_t begin(std::int64_t part) const noexcept { return slices_before(part, 1, 1); }
    std::int64_t largest() const noexcept { return size(0); }
    bool all_equal() const noexcept { return size(0) == size(count_ - 1); }

    /// Where slice `slice` of `slices` begins in a part, counted from the beginning of the part.
    std::int64_t slice_begin(std::int64_t part, std::int64_t slice, std::int64_t slices) const noexcept {
        return size(part) * slice / slices;
    }
    /// The sum of slice_begin() over the parts before `part`.
    std::int64_t slices_before(std::int64_t part, std::int64_t slice, std::int64_t slices) const noexcept {
        std::int64_t const rest = std::max<std::int64_t>(0, part - larges_);
        std::int64_t const middles = std::min<std::int64_t>(1, rest);
        return std::min(part, larges_) * (large_ * slice / slices) + middles * (middle_ * slice / slices) +
               (rest - middles) * (small_ * slice / slices);
    }
    /// The part that has an element. A search, because parts may be empty.
    std::int64_t part_with(std::int64_t element) const noexcept {
        if (element < larges_ * large_) return element / large_;
        std::int64_t const rest = element - larges_ * large_;
        return rest < middle_ || small_ == 0 ? larges_ : larges_ + 1 + (rest - middle_) / small_;
    }
    /// The slice that has an element of a part, counted from the part's beginning.
    std::int64_t slice_with(std::int64_t part, std::int64_t element, std::int64_t slices) const noexcept {
        return ((element + 1) * slices + size(part) - 1) / size(part) - 1;
    }

  private:
    std::int64_t extent_;
    int count_;
    std::int64_t small_;  // parts are: larges_ times large_, then middle_, then small_
    std::int64_t large_ = 0;
    std::int64_t larges_ = 0;
    std::int64_t middle_ = 0;
};

}  // namespace sluice::transposes
