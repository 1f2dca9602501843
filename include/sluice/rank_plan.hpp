// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Redistribution in place where a program knows only the rank that each block goes to: the library chooses the slots.
///
///     std::vector<Particle> particles = …;
///     std::vector<int> ranks = …;             // ranks[i]: where particle i goes; −1: nowhere, it is dropped
///     redistribute(context, particles, ranks);  // particles has now what came to this rank
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "sluice/context.hpp"
#include "sluice/error.hpp"
#include "sluice/export.h"
#include "sluice/redistribute.hpp"
#include "sluice/resize.hpp"

namespace sluice {

/// How the blocks of a rank lie afterwards.
enum class BlockOrder {
    any,        ///< blocks that stay keep their slots as far as possible: the fewest are moved
    by_source,  ///< as in the whole array before: by the rank that they come from, and there in their order
};

/// What a redistribution by rank may be told.
struct RankPlanOptions {
    BlockOrder order = BlockOrder::any;  ///< equal on all ranks
    /// Most blocks that this rank can hold. More are an error on all ranks.
    std::optional<std::uint64_t> room;
    RedistributeOptions redistribute;  ///< equal on all ranks
};

/// Moves the blocks of one array whose destinations are known by rank. Collective over the context. Memory in addition
/// to the vector: that of redistribute() with a rule, and at most 192 bytes for each rank that this one exchanges
/// blocks with and, before the vector grows, 64 KiB.
/// @param context the ranks that hold the array
/// @param array   the blocks of this rank; afterwards those that came to it, as many as there are
/// @param ranks   one for each element: the rank that it goes to; negative: it is dropped
/// @param resize  what becomes of the capacity
/// @param options see RankPlanOptions
/// @return what the call did on this rank, the choice of the slots and the growth of the vector included
/// @throws Error as RankPlan and RankPlan::apply()
template <class Element, class Allocator>
RedistributionReport redistribute(Context& context, std::vector<Element, Allocator>& array, std::span<int const> ranks,
                                  Resize resize = Resize::grow, RankPlanOptions const& options = {});

/// The slots of blocks of which only the ranks are known, to be applied to several arrays (structure of arrays) or many
/// times. It keeps what a Plan keeps. Threads and lifetime are those of a Plan.
class SLUICE_API RankPlan {
  public:
    /// Collective over the context. Memory during the call, besides what a Plan takes: at most 192 bytes for each rank
    /// that this one exchanges blocks with, and 64 KiB.
    /// @param context the ranks that hold the arrays
    /// @param ranks   one for each block of this rank: where it goes; negative: the block is dropped. May be changed
    ///                after the call.
    /// @param options see RankPlanOptions
    /// @throws Error the same on every rank: invalid_argument for a rank that does not exist, options that differ, or
    ///         more blocks for a rank than it has room for; out_of_memory
    RankPlan(Context& context, std::span<int const> ranks, RankPlanOptions const& options = {});
    ~RankPlan();
    RankPlan(RankPlan&&) noexcept;
    RankPlan& operator=(RankPlan&&) noexcept;

    /// Blocks of this rank before: the size of the list.
    std::uint64_t count_before() const;
    /// Blocks of this rank afterwards. They are in the slots from 0 on.
    std::uint64_t count_after() const;
    /// Slots that an array needs for the move, the larger of both.
    std::uint64_t slots() const;

    /// Moves the blocks of each array, array after array. Collective over the context.
    /// @param arrays the arrays of this rank, equally many on all ranks, each of slots() blocks; the caller owns them
    /// @return the sum over the arrays
    /// @throws Error as Plan::apply()
    RedistributionReport apply(std::span<Blocks const> arrays);

    /// The same for vectors, which are resized. Collective over the context.
    /// @param resize  what becomes of their capacity
    /// @param vectors each has count_before() elements before and count_after() afterwards
    /// @throws Error the same on every rank: invalid_argument for vectors of another size, or whose capacity does not
    ///         suffice; out_of_memory. The vectors are what they were then.
    template <class... Elements, class... Allocators>
    RedistributionReport apply(Resize resize, std::vector<Elements, Allocators>&... vectors);

  private:
    template <class Element, class Allocator>
    friend RedistributionReport redistribute(Context& context, std::vector<Element, Allocator>& array,
                                             std::span<int const> ranks, Resize resize, RankPlanOptions const& options);
    struct State;
    /// For one move of one array, whose report tells of this call, too. Until then the arguments must last.
    struct Once {};
    RankPlan(Once, Context& context, std::span<int const> ranks, RankPlanOptions const& options);
    /// apply(), with what this rank found wrong before.
    RedistributionReport apply(std::span<Blocks const> arrays, std::optional<Error> const& fault);
    std::unique_ptr<State> state_;
};

template <class... Elements, class... Allocators>
RedistributionReport RankPlan::apply(Resize resize, std::vector<Elements, Allocators>&... vectors) {
    static_assert((std::is_trivially_copyable_v<Elements> && ...), "blocks are moved as bytes");
    return move_in_vectors(
        resize,
        [&](std::optional<Error> const& fault) {
            std::array<Blocks, sizeof...(vectors)> const arrays{blocks_of(vectors)...};
            return apply(arrays, fault);
        },
        VectorInMove<std::vector<Elements, Allocators>>{vectors, count_before(), slots(), count_after()}...);
}

template <class Element, class Allocator>
RedistributionReport redistribute(Context& context, std::vector<Element, Allocator>& array, std::span<int const> ranks,
                                  Resize resize, RankPlanOptions const& options) {
    return RankPlan(RankPlan::Once{}, context, ranks, options).apply(resize, array);
}

}  // namespace sluice
