// SPDX-License-Identifier: BSD-3-Clause
/// Which ranks the members of a group are: identity, range, stride, list or function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice::groups {

/// Member i is rank first + i × stride. Two numbers, so that it goes into records of constant size.
struct StridedRanks {
    int first = 0;
    int stride = 1;  ///< 0: the members are not at equal distances, and only the first one is known

    constexpr bool is_regular() const noexcept { return stride != 0; }
    /// Computes in 64 bits, because a record may hold any numbers.
    constexpr std::int64_t at(std::int64_t member) const noexcept { return first + member * stride; }
};

/// Finds the stride of ranks that come one after the other.
class StrideFinder {
  public:
    constexpr void take(int rank) noexcept {
        if (count_ == 0) found_.first = rank;
        if (count_ == 1) found_.stride = rank - found_.first;
        is_regular_ = is_regular_ && found_.at(count_) == rank;
        ++count_;
    }
    /// The stride of a single member is 1.
    constexpr StridedRanks found() const noexcept { return {found_.first, is_regular_ ? found_.stride : 0}; }

  private:
    StridedRanks found_;
    std::int64_t count_ = 0;
    bool is_regular_ = true;
};

/// The map has constant size, whatever the number of members. It does not own a list or a function's argument.
class RankMap {
  public:
    using Function = int (*)(void const* argument, int member);

    /// Member i is rank i.
    constexpr RankMap() noexcept = default;
    constexpr RankMap(StridedRanks ranks) noexcept : strided_(ranks) {}
    static constexpr RankMap range(int first) noexcept { return StridedRanks{first, 1}; }
    static constexpr RankMap list(std::span<int const> ranks) noexcept {
        return function([](void const* first, int member) { return static_cast<int const*>(first)[member]; },
                        ranks.data());
    }
    static constexpr RankMap function(Function function, void const* argument) noexcept {
        RankMap map;
        map.function_ = function;
        map.argument_ = argument;
        return map;
    }

    constexpr int operator()(int member) const {
        return function_ != nullptr ? function_(argument_, member) : static_cast<int>(strided_.at(member));
    }

  private:
    StridedRanks strided_;
    Function function_ = nullptr;
    void const* argument_ = nullptr;
};

}  // namespace sluice::groups
