// SPDX-License-Identifier: BSD-3-Clause
/// The order in which blocks of a file will be used, and how far the program has come in it. The program need not keep
/// to it.
///
///     done done [first] done planned planned … planned │ (the same again, if the plan repeats)
///                 └─ not used yet: reading ahead begins here
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sluice/paged.hpp"

namespace sluice::paged {

/// Takes 9 bytes for each block and 25 for each entry.
class PagingPlan {
  public:
    static constexpr std::uint64_t k_never = std::numeric_limits<std::uint64_t>::max();

    explicit PagingPlan(std::size_t blocks) : first_place_(blocks + 1, 0) {}

    /// Replaces the plan. All blocks of `order` must exist.
    void set(std::vector<BlockUse> order, bool again);
    /// Marks the next entry of a block that is used as done; returns true if there was one.
    bool used(std::size_t block);

    /// Returns how many entries come before the next one that needs the block's present content.
    std::uint64_t next_need(std::size_t block) const;

    /// Calls `look(use)` for each entry that is not done, in order, at most once for each, until it returns false.
    template <typename Look>
    void look_ahead(Look&& look) const {
        std::size_t const end = again_ ? first_ + order_.size() : order_.size();
        for (std::size_t i = first_; i < end; ++i) {
            std::size_t const at = i < order_.size() ? i : i - order_.size();
            if (!done_[at] && !look(order_[at])) return;
        }
    }

  private:
    // Entries may be used out of order. An entry is given up after this many later ones were used before it.
    static constexpr std::uint32_t k_patience = 64;

    std::uint64_t distance(std::size_t place) const;
    void go_on();

    std::vector<BlockUse> order_;
    std::vector<bool> done_;
    std::vector<std::size_t>
        first_place_;  // places of block b: places_[first_place_[b]] to places_[first_place_[b + 1]]
    std::vector<std::size_t> places_;
    std::size_t first_ = 0;
    std::uint32_t passed_over_ = 0;
    bool again_ = false;
};

}  // namespace sluice::paged
