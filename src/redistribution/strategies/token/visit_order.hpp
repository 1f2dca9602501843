// SPDX-License-Identifier: BSD-3-Clause
/// The order in which the elements of a row are visited, round after round.
///
/// In order, neighbours in memory follow each other, which suits caches. Spread, the step is the golden section of the
/// round, so any few consecutive visits are far apart. Maps often keep slots sorted by source: if all ranks visited
/// them in order, all would turn to the same source at once, and on a network all traffic of a moment would go the same
/// distance. With starts that are shifted by rank, all ranks take the same distances in the same mixed order, and
/// sources and links share the load.
#pragma once

#include <cstdint>
#include <numeric>

namespace sluice::redistribution {

class VisitOrder {
  public:
    VisitOrder() = default;
    /// Visits [0, size) in order, round after round, beginning at `start`.
    static VisitOrder in_order(std::uint64_t size, std::uint64_t start) { return {size, start, 1}; }
    static VisitOrder spread(std::uint64_t size, std::uint64_t start) {
        std::uint64_t step = size / 1000 * 618 + size % 1000 * 618 / 1000;
        while (std::gcd(step, size) > 1)
            ++step;  // ends at the latest with a step of 1 or size - 1
        return {size, start, step == 0 ? 1 : step};
    }

    /// Returns the present place and moves to the next. The row must not be empty.
    std::uint64_t next() noexcept {
        std::uint64_t const here = place_;
        std::uint64_t const left = size_ - place_;
        place_ = step_ < left ? place_ + step_ : step_ - left;
        return here;
    }

  private:
    VisitOrder(std::uint64_t size, std::uint64_t start, std::uint64_t step)
        : size_(size), place_(size == 0 ? 0 : start % size), step_(step) {}

    std::uint64_t size_ = 0;
    std::uint64_t place_ = 0;
    std::uint64_t step_ = 1;
};

}  // namespace sluice::redistribution
