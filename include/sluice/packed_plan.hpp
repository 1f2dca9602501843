// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Redistribution in place of blocks of different sizes that lie packed behind one another, by rank.
///
///     std::vector<double> values = …;        // the blocks of this rank, one behind the other
///     std::vector<std::uint64_t> sizes = …;  // elements of each block; may be 0
///     std::vector<int> ranks = …;            // ranks[i]: where block i goes; −1: nowhere, it is dropped
///     redistribute(context, values, sizes, ranks);  // values and sizes have now what came to this rank
#pragma once

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
#include "sluice/units.hpp"

namespace sluice {

/// Blocks of different sizes on this rank, in the order in which they lie.
struct PackedBlocks {
    std::span<std::uint64_t const> sizes;  ///< one for each block: its number of elements, from 0 on
    std::span<int const> ranks;            ///< as many: where each block goes; negative: the block is dropped
    Bytes element_bytes{1};                ///< bytes of an element, equal on all ranks, at least 1
};

/// Moves packed blocks of different sizes whose destinations are known by rank. Collective over the context; see
/// PackedPlan.
/// @param context the ranks that hold the array
/// @param data    the blocks of this rank, behind one another; afterwards those that came to it
/// @param sizes   the number of elements of each block; afterwards of those that came
/// @param ranks   one for each block: the rank that it goes to; negative: it is dropped
/// @param resize  what becomes of the capacity of both vectors
/// @param options equal on all ranks
/// @return what the call did on this rank, the growth of the vectors included
/// @throws Error as PackedPlan and PackedPlan::apply()
template <class Element, class Allocator, class SizesAllocator>
RedistributionReport redistribute(Context& context, std::vector<Element, Allocator>& data,
                                  std::vector<std::uint64_t, SizesAllocator>& sizes, std::span<int const> ranks,
                                  Resize resize = Resize::grow, RedistributeOptions const& options = {});

/// Where blocks of different sizes go, to be applied to one array or several that are divided alike. Afterwards the
/// blocks of a rank lie packed again, as in the whole array before: by the rank that they come from, and there in their
/// order. It keeps 12 bytes for each block of this rank and 64 for each rank that this one exchanges blocks with.
/// Threads and lifetime are those of a Plan.
class SLUICE_API PackedPlan {
  public:
    /// Collective over the context. Memory during the call, besides what the plan keeps: at most 192 bytes for each
    /// rank that this one exchanges blocks with, and 64 KiB.
    /// @param context the ranks that hold the arrays
    /// @param blocks  the blocks of this rank. Both lists may be changed after the call.
    /// @param options equal on all ranks
    /// @throws Error the same on every rank: invalid_argument for a rank that does not exist, lists of different
    ///         lengths, sizes whose sum overflows, or values that differ; out_of_memory
    PackedPlan(Context& context, PackedBlocks const& blocks, RedistributeOptions const& options = {});
    ~PackedPlan();
    PackedPlan(PackedPlan&&) noexcept;
    PackedPlan& operator=(PackedPlan&&) noexcept;

    /// Blocks of this rank before: the length of the lists.
    std::uint64_t blocks_before() const;
    /// Blocks of this rank afterwards.
    std::uint64_t blocks_after() const;
    /// Elements of all blocks of this rank before.
    std::uint64_t elements_before() const;
    /// Elements of all blocks of this rank afterwards.
    std::uint64_t elements_after() const;
    /// Elements that an array needs for the move, the larger of both.
    std::uint64_t elements() const;

    /// Moves the blocks of an array. Collective over the context.
    ///
    /// Memory in addition to both arrays and what the plan keeps: staging (from 32 KiB on) + 320 bytes for each rank
    /// that this one exchanges blocks with + 8·√(b·p) + 64 KiB, where b is the most bytes of any rank, before or
    /// afterwards, and p the most ranks that any rank has blocks for: 0.2 MiB for 80 MiB and 8 ranks. A block may be
    /// larger than all of that.
    /// @param data  at least elements() elements, of which the first elements_before() are the blocks; afterwards the
    ///              first elements_after() are, and the bytes behind them are unspecified. The caller owns it.
    /// @param sizes at least blocks_after() numbers, which become the sizes of the blocks afterwards
    /// @return what the call did on this rank. Its blocks sent and received are those of the list, its local blocks
    ///         units of bytes that the library cuts.
    /// @throws Error the same on every rank, before anything has changed: invalid_argument for arrays that are too
    ///         small, or null; out_of_memory
    RedistributionReport apply(std::span<std::byte> data, std::span<std::uint64_t> sizes);

    /// The same for vectors, which are resized. Collective over the context.
    /// @param resize what becomes of their capacity
    /// @param data   elements of PackedBlocks::element_bytes; elements_before() before, elements_after() afterwards
    /// @param sizes  blocks_before() numbers before, blocks_after() afterwards
    /// @throws Error the same on every rank: invalid_argument for vectors of another size or element, or whose capacity
    ///         does not suffice; out_of_memory. The vectors are what they were then.
    template <class Element, class Allocator, class SizesAllocator>
    RedistributionReport apply(Resize resize, std::vector<Element, Allocator>& data,
                               std::vector<std::uint64_t, SizesAllocator>& sizes);

  private:
    template <class Element, class Allocator, class SizesAllocator>
    friend RedistributionReport redistribute(Context& context, std::vector<Element, Allocator>& data,
                                             std::vector<std::uint64_t, SizesAllocator>& sizes,
                                             std::span<int const> ranks, Resize resize,
                                             RedistributeOptions const& options);
    struct [[gnu::visibility("hidden")]] State;
    /// For one move, whose report tells of this call, too.
    struct Once {};
    PackedPlan(Once, Context& context, PackedBlocks const& blocks, RedistributeOptions const& options);
    /// apply(), with what this rank found wrong before.
    RedistributionReport apply(std::span<std::byte> data, std::span<std::uint64_t> sizes,
                               std::optional<Error> const& fault);
    std::optional<Error> fault_of_element(std::uint64_t bytes) const;
    std::unique_ptr<State> state_;
};

template <class Element, class Allocator, class SizesAllocator>
RedistributionReport PackedPlan::apply(Resize resize, std::vector<Element, Allocator>& data,
                                       std::vector<std::uint64_t, SizesAllocator>& sizes) {
    static_assert(std::is_trivially_copyable_v<Element>, "blocks are moved as bytes");
    std::uint64_t const most_blocks = blocks_before() < blocks_after() ? blocks_after() : blocks_before();
    return move_in_vectors(
        resize,
        [&](std::optional<Error> const& fault) {
            return apply(std::as_writable_bytes(std::span(data)), std::span(sizes),
                         fault ? fault : fault_of_element(sizeof(Element)));
        },
        VectorInMove<std::vector<Element, Allocator>>{data, elements_before(), elements(), elements_after()},
        VectorInMove<std::vector<std::uint64_t, SizesAllocator>>{sizes, blocks_before(), most_blocks, blocks_after()});
}

template <class Element, class Allocator, class SizesAllocator>
RedistributionReport redistribute(Context& context, std::vector<Element, Allocator>& data,
                                  std::vector<std::uint64_t, SizesAllocator>& sizes, std::span<int const> ranks,
                                  Resize resize, RedistributeOptions const& options) {
    return PackedPlan(PackedPlan::Once{}, context, {sizes, ranks, {sizeof(Element)}}, options)
        .apply(resize, data, sizes);
}

}  // namespace sluice
