// SPDX-License-Identifier: BSD-3-Clause
/// Blocks of different sizes as streams of bytes, one from each rank to each partner. A stream is cut into units of
/// equal size, which any strategy moves, and a tail that is shorter than a unit:
///
///     before    | a1 | b1      | a2       | – | b2 | a3  |      blocks for the ranks a and b; one is dropped
///     packed    | aaaa | bbbb | aaaa | bbbb |   tails: a, bb    units in the order in which they become full
///     moved     | from rank 0 | from rank 1 | …                 units in the order of their streams
///     spread    | from rank 0 | _ | from rank 1 | _ | …         room for the tails, which come last
///
/// To pack never overwrites what has not been read: read − written = bytes in tails + bytes dropped >= a unit, whenever
/// a tail has become one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "memory/meter.hpp"
#include "sluice/packed_plan.hpp"

namespace sluice::redistribution {

/// The fault that this rank alone can see, if there is one.
std::optional<Error> fault_of(PackedBlocks const& blocks);

/// The size of units for which the tails of `partners` streams and the addresses of `bytes` bytes, 16 bytes a unit,
/// take the least memory together: at most 8·√(bytes·partners) + 64·partners.
std::uint64_t unit_bytes_for(std::uint64_t bytes, std::uint64_t partners);

/// What this rank has for one partner.
struct OutgoingStream {
    int rank = -1;             ///< −1: blocks that are dropped
    std::uint64_t first = 0;   ///< where its sizes begin
    std::uint64_t bytes = 0;   ///< of all its blocks
    std::uint64_t next = 0;    ///< index of the next of its sizes, while blocks are visited
    std::uint64_t filled = 0;  ///< bytes in its tail, while units are cut
};

/// What one partner has for this rank.
struct IncomingStream {
    int rank = -1;
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
};

/// Keeps 12 bytes a block. Only the constructor allocates.
class OutgoingStreams {
  public:
    /// Throws std::bad_alloc. The lists, which are without fault, may be changed afterwards. `budget` is for tables
    /// that last during this call.
    OutgoingStreams(PackedBlocks const& blocks, Budget const& budget, memory::Meter& meter);

    /// By rank, without the blocks that are dropped.
    std::span<OutgoingStream const> streams() const noexcept { return {streams_.data(), streams_.size() - 1}; }
    /// Of stream `which`, in elements, in the order of the blocks.
    std::span<std::uint64_t const> sizes_of(std::size_t which) const noexcept {
        return {sizes_.data() + streams_[which].first, streams_[which + 1].first - streams_[which].first};
    }
    std::uint64_t blocks() const noexcept { return sizes_.size(); }
    Bytes memory() const noexcept {
        return {streams_.capacity() * sizeof(OutgoingStream) +
                blocks() * (sizeof(std::uint32_t) + sizeof(std::uint64_t))};
    }
    /// All bytes of this rank.
    std::uint64_t bytes() const noexcept;
    std::uint64_t units(std::uint64_t unit_bytes) const noexcept;

    /// Writes the rank of each unit to `ranks`, in the order in which pack() makes them.
    void list_units(std::uint64_t unit_bytes, std::span<int> ranks) noexcept;
    /// Packs the blocks of `data` into units at its begin. `tails` has a unit for each stream, in which its last bytes
    /// are afterwards. Returns the number of bytes that were copied.
    std::uint64_t pack(std::byte* data, std::uint64_t unit_bytes, std::byte* tails) noexcept;

  private:
    /// Calls `visit(stream, bytes)` for each block in its order.
    template <class Visit>
    void each_block(Visit const& visit) noexcept;

    std::uint64_t element_bytes_;
    memory::MeteredVector<OutgoingStream> streams_;   // the last: what is dropped
    memory::MeteredVector<std::uint32_t> stream_of_;  // of each block
    memory::MeteredVector<std::uint64_t> sizes_;      // stream after stream
};

/// Moves the units of `streams`, which lie one behind the other, apart: behind those of each stream there is room for
/// its tail. Returns the number of bytes that were copied.
std::uint64_t spread(std::byte* data, std::uint64_t unit_bytes, std::span<IncomingStream const> streams) noexcept;

}  // namespace sluice::redistribution
