// SPDX-License-Identifier: BSD-3-Clause
/// Remembers the last finished names, so that a late request gets an error instead of waiting for ever.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sluice::fetch {

template <typename Name>
class RecentKeys {
  public:
    static constexpr std::size_t k_remembered = 1024;

    /// The next `names` calls of remember() allocate nothing. Throws std::bad_alloc.
    void make_room(std::size_t names) {
        std::size_t const needed = std::min(names_.size() + names, k_remembered);
        if (needed > names_.capacity()) names_.reserve(std::min(std::max(needed, 2 * names_.capacity()), k_remembered));
    }
    void remember(Name const& name) {
        if (names_.size() < k_remembered)
            names_.push_back(name);
        else
            names_[oldest_++ % k_remembered] = name;
    }
    bool contains(Name const& name) const { return std::ranges::find(names_, name) != names_.end(); }

  private:
    std::vector<Name> names_;  // a ring buffer
    std::size_t oldest_ = 0;
};

}  // namespace sluice::fetch
