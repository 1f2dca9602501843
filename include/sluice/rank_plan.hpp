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
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "sluice/context.hpp"
#include "sluice/error.hpp"
#include "sluice/export.h"
#include "sluice/redistribute.hpp"

namespace sluice {

/// How the blocks of a rank lie afterwards.
enum class BlockOrder {
    any,        ///< blocks that stay keep their slots as far as possible: the fewest are moved
    by_source,  ///< as in the whole array before: by the rank that they come from, and there in their order
};

/// What becomes of a vector that has another number of blocks afterwards. Its size is always the new number.
enum class Resize {
    grow,      ///< its capacity grows to what is needed if it must, and never shrinks. Growth copies the vector:
               ///< reserve() what a rank may hold avoids that
    fit,       ///< the same, and the capacity that is not needed is given back
    must_fit,  ///< its capacity stays; if it does not suffice on a rank, that is an error on all
};

/// What a redistribution by rank may be told.
struct RankPlanOptions {
    BlockOrder order = BlockOrder::any;  ///< equal on all ranks
    /// Most blocks that this rank can hold. More are an error on all ranks.
    std::optional<std::uint64_t> room;
    RedistributeOptions redistribute;  ///< equal on all ranks
};

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
    struct State;
    static std::optional<Error> fault_of_vector(std::uint64_t size, std::uint64_t capacity, std::uint64_t before,
                                                std::uint64_t slots, Resize resize);
    /// apply(), with what this rank found wrong before.
    RedistributionReport apply(std::span<Blocks const> arrays, std::optional<Error> const& fault);
    std::unique_ptr<State> state_;
};

template <class... Elements, class... Allocators>
RedistributionReport RankPlan::apply(Resize resize, std::vector<Elements, Allocators>&... vectors) {
    static_assert((std::is_trivially_copyable_v<Elements> && ...), "blocks are moved as bytes");
    std::uint64_t const before = count_before();
    std::uint64_t const after = count_after();
    std::optional<Error> fault;
    ((fault = fault ? fault : fault_of_vector(vectors.size(), vectors.capacity(), before, slots(), resize)), ...);
    auto const resize_all = [&](std::uint64_t blocks) {
        // A vector that grows by itself takes up to twice what it needs.
        (vectors.reserve(blocks), ...);
        (vectors.resize(blocks), ...);
    };
    bool const may_grow = !fault;
    try {
        if (may_grow) resize_all(slots());
    } catch (std::bad_alloc const&) {
        fault.emplace(ErrorCode::out_of_memory, "no memory for vectors of " + std::to_string(slots()) + " elements");
    } catch (std::length_error const&) {
        fault.emplace(ErrorCode::out_of_memory, "a vector cannot have " + std::to_string(slots()) + " elements");
    }
    std::array<Blocks, sizeof...(vectors)> const arrays{blocks_of(vectors)...};
    try {
        RedistributionReport report = apply(arrays, fault);
        resize_all(after);
        if (resize == Resize::fit) (vectors.shrink_to_fit(), ...);
        return report;
    } catch (...) {
        if (may_grow) resize_all(before);  // a vector that was refused for its size keeps it
        throw;
    }
}

/// Moves the blocks of one array whose destinations are known by rank. Collective over the context; see RankPlan.
/// @param context the ranks that hold the array
/// @param array   the blocks of this rank; afterwards those that came to it, as many as there are
/// @param ranks   one for each element: the rank that it goes to; negative: it is dropped
/// @param resize  what becomes of the capacity
/// @param options see RankPlanOptions
/// @return what the call did on this rank
/// @throws Error as RankPlan and RankPlan::apply()
template <class Element, class Allocator>
RedistributionReport redistribute(Context& context, std::vector<Element, Allocator>& array, std::span<int const> ranks,
                                  Resize resize = Resize::grow, RankPlanOptions const& options = {}) {
    return RankPlan(context, ranks, options).apply(resize, array);
}

}  // namespace sluice
