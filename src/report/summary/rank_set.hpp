// SPDX-License-Identifier: BSD-3-Clause
/// A set of ranks in constant size: how many they are, and which are the lowest of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::report {

class RankSet {
  public:
    static constexpr std::size_t k_named = 256;

    RankSet() = default;
    explicit RankSet(std::uint32_t rank) : count_(1), lowest_{rank} {}
    /// `lowest` in rising order, at most k_named and at most `count`; further ranks are left out.
    RankSet(std::uint64_t count, std::vector<std::uint32_t> lowest);

    /// The two must have no rank in common.
    void add(RankSet const& other);

    std::uint64_t count() const { return count_; }
    std::vector<std::uint32_t> const& lowest() const { return lowest_; }

    /// Returns a text such as "rank 3", "ranks 0-2, 7", "ranks 0-255 and 3840 others", "all 8 ranks", "both ranks";
    /// `all` is the number of ranks of the job, and no more than `most` ranges are named.
    std::string text(std::uint64_t all, std::size_t most = 6) const;

    bool operator==(RankSet const&) const = default;

  private:
    std::uint64_t count_ = 0;
    std::vector<std::uint32_t> lowest_;
};

}  // namespace sluice::report
