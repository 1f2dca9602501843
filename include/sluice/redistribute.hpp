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
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sluice/context.hpp"
#include "sluice/error.hpp"
#include "sluice/export.h"

namespace sluice {

/// The new place of a block: slot `index` of `rank`'s array. A negative rank marks the block free: its bytes need not
/// survive.
struct Destination {
    int rank = -1;
    std::int64_t index = 0;
    bool operator==(Destination const&) const = default;
};

inline constexpr Destination free_block{};

/// The caller's array: `count` blocks of `block_bytes` bytes each, contiguous. Not owned. `block_bytes` is the same on
/// every rank; `count` may differ and may be 0.
struct Blocks {
    void* data = nullptr;
    std::uint64_t count = 0;
    std::uint64_t block_bytes = 0;
};

template <typename T>
Blocks blocks_of(std::span<T> array) {
    static_assert(std::is_trivially_copyable_v<T>, "blocks are moved as bytes");
    return {array.data(), array.size(), sizeof(T)};
}

/// Computes the destination of block `index` from its bytes. Called on the calling thread, at least once for each local
/// block while that block is still in place. It must give the same answer each time and must not call MPI.
using DestinationFunction = std::function<Destination(std::uint64_t index, std::span<std::byte const> block)>;

/// "token", "parking", "cyclic", "alltoallv" or "auto"; throws Error(invalid_argument) with the known names otherwise.
SLUICE_API Strategy strategy_named(std::string_view name);

/// Settings that one call overrides. Must be equal on all ranks.
struct RedistributeOptions {
    std::optional<Strategy> strategy;
    std::optional<Bytes> staging;
};

/// What one redistribution did on this rank.
struct SLUICE_API RedistributionReport {
    Strategy strategy = Strategy::token;                ///< that moved the last array, where a plan moved several
    std::string why;                                    ///< why this strategy, those before it, and these transports
    std::vector<std::pair<std::string, double>> steps;  ///< (step, seconds), in order
    std::uint64_t blocks_sent = 0;                      ///< blocks that left for another rank
    std::uint64_t blocks_received = 0;                  ///< blocks that came from another rank
    std::uint64_t blocks_local = 0;  ///< copies of blocks inside this rank; a block copied twice counts twice
    Bytes bytes_sent, bytes_received, bytes_local;
    std::uint64_t rounds = 0;         ///< phases (parking), actions (cyclic), passes over byte ranges (token)
    std::uint64_t requests_peak = 0;  ///< most MPI requests open at once
    Bytes extra_peak;                 ///< most bytes held in addition to the caller's arrays
    std::vector<std::pair<std::string, std::uint64_t>> counters;  ///< counters of the transports during the call

    double seconds() const;
    /// The report in a few lines that people can read.
    std::string text() const;
};

/// Collective over the context. Moves block i of `blocks` to `destinations[i]`; blocks past the end of `destinations`
/// are free. Memory beside the array: Settings::staging (at least 32 KiB) + 5 bytes a local block (16 in the worst
/// case) + 64 bytes a real partner, whatever the block size. Throws the same Error on every rank, before any byte has
/// moved: rank or index out of range, two blocks to one address, `destinations` longer than the array, null pointers,
/// sizes that overflow or differ, different options on different ranks, no memory.
SLUICE_API RedistributionReport redistribute(Context& context, Blocks blocks, std::span<Destination const> destinations,
                                             RedistributeOptions const& options = {});

/// The same with a computed map: no list is needed, and with strategy token 5 bytes a local block suffice (8 where
/// ranks and indices together need more than 37 bits).
SLUICE_API RedistributionReport redistribute(Context& context, Blocks blocks, DestinationFunction const& destination,
                                             RedistributeOptions const& options = {});

/// A validated map that is applied to several arrays (structure of arrays) or many times. Collective to make and to
/// apply. Keeps at most 16 bytes a local block and nothing of `destinations`. Must not outlive the context.
class SLUICE_API Plan {
  public:
    /// `count` is the number of slots of the local array, as Blocks::count; the other parameters and errors are those
    /// of redistribute().
    Plan(Context& context, std::uint64_t count, std::span<Destination const> destinations,
         RedistributeOptions const& options = {});
    /// Makes a plan with a map that is computed from the index of the block, so that no list is needed. `destination`
    /// is called only during this call, on this thread, and must not call MPI.
    static Plan computed(Context& context, std::uint64_t count,
                         std::function<Destination(std::uint64_t index)> const& destination,
                         RedistributeOptions const& options = {});
    ~Plan();
    Plan(Plan&&) noexcept;
    Plan& operator=(Plan&&) noexcept;

    /// Moves the blocks of each array by the map, array after array; the `count` of each must be the plan's. If the
    /// ranks disagree about the block size of an array, the arrays before it have been moved.
    RedistributionReport apply(std::span<Blocks const> arrays);
    RedistributionReport apply(Blocks blocks) { return apply(std::span<Blocks const>(&blocks, 1)); }

    /// Bytes that the plan holds on this rank.
    Bytes memory() const;

    struct [[gnu::visibility("hidden")]] State;

  private:
    explicit Plan(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace sluice
