// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Moves every block of a distributed array to a new place, in place.
///
/// Each rank of a communicator holds an array of blocks of equal size. A map f sends each live block b to a new address
/// (rank, index), no two blocks to the same one. Afterwards the slot f(b) holds the block b; slots that receive no
/// block hold unspecified bytes. The redistribution ends for every valid map, even if no rank has a free slot. (Problem
/// statement: S. Siegel and A. Siegel, MADRE, EuroPVM/MPI 2008, section 2.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sluice/context.hpp"
#include "sluice/error.hpp"
#include "sluice/export.h"
#include "sluice/units.hpp"

namespace sluice {

/// The new place of a block. A negative rank marks the block free: its bytes need not survive.
struct Destination {
    int rank = -1;           ///< rank of the context
    std::int64_t index = 0;  ///< slot of that rank's array, from 0 on
    bool operator==(Destination const&) const = default;
};

/// The destination of a block whose bytes need not survive.
inline constexpr Destination free_block{};

/// The array of this rank: `count` slots of `block_bytes` each, contiguous.
struct Blocks {
    void* data = nullptr;     ///< the first block; the caller owns the memory; may be null if `count` is 0
    std::uint64_t count = 0;  ///< number of blocks (slots); ranks may differ
    Bytes block_bytes{};      ///< size of one block, equal on all ranks, at least 1
};

/// Makes the Blocks of an array, one block for each element.
/// @param array a contiguous range (a vector, an array, a span), whose elements are moved as bytes; the caller owns it
/// @return the description of `array`, valid until `array` dies or is resized
template <std::ranges::contiguous_range Array>
requires std::ranges::sized_range<Array> Blocks blocks_of(Array&& array) {
    using Element = std::ranges::range_value_t<Array>;
    static_assert(std::is_trivially_copyable_v<Element>, "blocks are moved as bytes");
    return {std::ranges::data(array), std::ranges::size(array), {sizeof(Element)}};
}

/// Computes the destination of a block.
/// @param index the slot that the block is in now, on this rank
/// @param block its bytes, valid during the call
/// @return where it goes, or free_block
///
/// Called on the calling thread, at least once for each local block while that block is still in place. It must give
/// the same answer each time, must not throw and must not call MPI. Each call passes through two std::functions that
/// the compiler cannot inline; this time comes on top of the function's own.
using DestinationFunction = std::function<Destination(std::uint64_t index, std::span<std::byte const> block)>;

/// Finds a strategy by its name.
/// @param name "token", "parking", "cyclic", "alltoallv" or "auto"
/// @throws Error invalid_argument for another name; its text has the known ones
SLUICE_API Strategy strategy_named(std::string_view name);

/// Tells where the block of a slot comes from: the inverse of the destinations.
/// @param slot a slot of this rank
/// @return rank and index of the block that goes there, or free_block if none does
///
/// Called on the calling thread, at least once for each local slot. It must give the same answer each time, must not
/// throw and must not call MPI.
using InverseFunction = std::function<Destination(std::uint64_t slot)>;

/// Settings that one call overrides. They must be equal on all ranks.
struct RedistributeOptions {
    std::optional<Strategy> strategy;  ///< instead of Settings::strategy
    std::optional<Bytes> staging;      ///< instead of Settings::staging; at least 4 KiB are used
    /// The inverse of the destinations, on all ranks or on none. With it no address travels: the ranks only compare two
    /// sums. An inverse that is wrong is an error on every rank before any byte has moved; which slot it is wrong for
    /// is told with Settings::check data or all, which exchange the addresses. Used during the call only, by
    /// redistribute() and by the making of a Plan; RankPlan and PackedPlan, which choose the slots, refuse it.
    InverseFunction inverse{};
};

/// The time that one step of a redistribution took on this rank.
struct StepTime {
    std::string name;
    double seconds = 0;
};

/// The value of one counter of the transports.
struct CounterValue {
    std::string name;
    std::uint64_t value = 0;
};

/// What one redistribution did on this rank. Its numbers are those of the rank, not sums over ranks.
struct SLUICE_API RedistributionReport {
    Strategy strategy = Strategy::token;  ///< the strategy that moved the last array, if a plan moved several
    std::string why;                      ///< the reason for this strategy and these transports
    std::vector<StepTime> steps;          ///< in the order in which they ran
    std::uint64_t blocks_sent = 0;        ///< blocks that left for another rank
    std::uint64_t blocks_received = 0;    ///< blocks that came from another rank
    std::uint64_t blocks_local = 0;       ///< copies of blocks inside this rank; a block copied twice counts twice
    Bytes bytes_sent;                     ///< bytes of the blocks that left
    Bytes bytes_received;                 ///< bytes of the blocks that came
    Bytes bytes_local;                    ///< bytes that were copied inside this rank
    std::uint64_t rounds = 0;             ///< phases (parking), actions (cyclic), passes over byte ranges (token)
    std::uint64_t requests_peak = 0;      ///< most MPI requests open at once
    Bytes extra_peak;                     ///< most bytes held in addition to the caller's arrays
    std::vector<CounterValue> counters;   ///< counters of the transports, as far as they grew during the call

    /// The sum of the steps.
    double seconds() const;
    /// The report in a few lines that people can read.
    std::string text() const;
};

/// Moves block i of `blocks` to `destinations[i]`. Collective over the context; returns when all blocks of this rank
/// have arrived. Memory in addition to the array: Settings::staging (from 32 KiB on), 5 bytes for each local block (16
/// in the worst case) and 64 bytes for each real partner, whatever the block size.
/// @param context      the ranks that hold the array; one thread at once may use it
/// @param blocks       the array of this rank; slots to which no block is sent hold unspecified bytes afterwards
/// @param destinations at most `blocks.count` destinations, one for each block from the first on; blocks after them are
///                     free. The list may be changed after the call.
/// @param options      settings that this call overrides, equal on all ranks
/// @return what the call did on this rank
/// @throws Error the same on every rank, before any byte has moved: invalid_argument for a rank or index out of range,
///         two blocks with one destination, more destinations than blocks, null pointers, sizes that overflow or
///         differ, options that differ, or an inverse that is none; out_of_memory
SLUICE_API RedistributionReport redistribute(Context& context, Blocks blocks, std::span<Destination const> destinations,
                                             RedistributeOptions const& options = {});

/// Moves each block to a destination that is computed, so that no list is needed. With strategy token 5 bytes for each
/// local block suffice (8 if ranks and indices together need more than 37 bits).
/// @param context     the ranks that hold the array
/// @param blocks      the array of this rank
/// @param destination computes where a block goes; used during this call only
/// @param options     settings that this call overrides, equal on all ranks
/// @return what the call did on this rank
/// @throws Error as the form with a list
SLUICE_API RedistributionReport redistribute(Context& context, Blocks blocks, DestinationFunction const& destination,
                                             RedistributeOptions const& options = {});

class RankPlan;

/// A validated map that is applied to several arrays (structure of arrays) or many times. It keeps at most 16 bytes for
/// each local block, and nothing of the list that it was made from. It may outlive the Context object, but not
/// MPI_Finalize. Threads: one at once may use it, as its context. A plan that was moved from throws invalid_argument.
class SLUICE_API Plan {
  public:
    /// Makes a plan from a list. Collective over the context.
    /// @param context      the ranks that hold the arrays
    /// @param count        number of slots of the local array, as Blocks::count
    /// @param destinations at most `count` destinations, as for redistribute()
    /// @param options      settings that the plan overrides, equal on all ranks
    /// @throws Error as redistribute()
    Plan(Context& context, std::uint64_t count, std::span<Destination const> destinations,
         RedistributeOptions const& options = {});
    /// Makes a plan with a map that is computed from the index of the block, so that no list is needed. Collective over
    /// the context.
    /// @param context     the ranks that hold the arrays
    /// @param count       number of slots of the local array
    /// @param destination tells where the block of a slot goes; it is called during this call only, on this thread, and
    ///                    must not call MPI
    /// @param options     settings that the plan overrides, equal on all ranks
    /// @throws Error as redistribute()
    static Plan computed(Context& context, std::uint64_t count,
                         std::function<Destination(std::uint64_t index)> const& destination,
                         RedistributeOptions const& options = {});
    ~Plan();
    Plan(Plan&&) noexcept;
    Plan& operator=(Plan&&) noexcept;

    /// Moves the blocks of each array by the map, array after array. Collective over the context.
    /// @param arrays the arrays of this rank, equally many on all ranks; the `count` of each must be the plan's. The
    ///               caller owns them.
    /// @return the sum over the arrays
    /// @throws Error invalid_argument on every rank for other counts, before any byte has moved, or for ranks that
    ///         disagree about the block size of an array: then the arrays before it have been moved; out_of_memory
    RedistributionReport apply(std::span<Blocks const> arrays);
    /// Moves the blocks of one array.
    /// @param blocks the array of this rank
    /// @return what the call did on this rank
    /// @throws Error as the form for several arrays
    RedistributionReport apply(Blocks blocks) { return apply(std::span<Blocks const>(&blocks, 1)); }

    /// Bytes that the plan holds on this rank.
    Bytes memory() const;

    struct [[gnu::visibility("hidden")]] State;

  private:
    friend class RankPlan;
    explicit Plan(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace sluice
