// SPDX-License-Identifier: BSD-3-Clause
/// The order in which blocks of a file will be used, and how far the program has come in it. It need not be kept.
///
///     done done [first] done planned planned … planned │ (the same again, where the plan goes round)
///                 └─ not used yet: what is looked ahead for begins here
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sluice/paged.hpp"

namespace sluice::paged::detail {

/// Memory: 9 bytes a block and 25 an entry.
class PagingPlan {
  public:
    static constexpr std::uint64_t k_never = std::numeric_limits<std::uint64_t>::max();

    explicit PagingPlan(std::size_t blocks) : first_place_(blocks + 1, 0) {}

    /// In place of what was planned. All blocks are known to exist.
    void set(std::vector<Use> order, bool again);
    /// A block is used: the next entry of it is done. True where there was one.
    bool used(std::size_t block);

    /// How many entries come before the next one in which what is in the block now is needed.
    std::uint64_t next_need(std::size_t block) const;

    /// Calls `look(use)` for each entry that is not done, in order, at most once round, until it returns false.
    template <typename Look>
    void look_ahead(Look&& look) const {
        std::size_t const end = again_ ? first_ + order_.size() : order_.size();
        for (std::size_t i = first_; i < end; ++i) {
            std::size_t const at = i < order_.size() ? i : i - order_.size();
            if (!done_[at] && !look(order_[at])) return;
        }
    }

  private:
    // Entries may be used out of turn; one that so many later ones were used before is taken for dropped.
    static constexpr std::uint32_t k_patience = 64;

    std::uint64_t distance(std::size_t place) const;
    void go_on();

    std::vector<Use> order_;
    std::vector<bool> done_;
    std::vector<std::size_t> first_place_;  // of block b: places_[first_place_[b]] to places_[first_place_[b + 1]]
    std::vector<std::size_t> places_;
    std::size_t first_ = 0;
    std::uint32_t passed_over_ = 0;
    bool again_ = false;
};

}  // namespace sluice::paged::detail
