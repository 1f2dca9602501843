// SPDX-License-Identifier: BSD-3-Clause
/// Moves blocks: a receiver fetches named slots of a peer into places of its own.
///
/// `Slots` is what each side exposes: its array, of which one byte range of each block is on the move.
/// The owner learns by the fetch itself that a slot has been left; no other message makes slots vacant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice::engine {

/// The caller's array and the byte range of each block that is on the move. Not owned.
struct Slots {
    std::byte* array = nullptr;
    std::uint64_t block_bytes = 0;  ///< distance between slots
    std::uint64_t offset = 0;       ///< of the byte range inside each block
    std::uint64_t piece_bytes = 0;  ///< its length

    std::byte* at(std::uint64_t slot) const noexcept { return array + slot * block_bytes + offset; }
};

/// Brings the content of the peer's slot `from` here, as the final content of the local slot `for_slot`.
struct Fetch {
    std::uint64_t from;
    std::uint64_t for_slot;
};

/// Chooses the destinations of content and is told of what has happened.
class FetchListener {
  public:
    virtual ~FetchListener() = default;
    /// The destination of the content for that slot: the slot or a spare. It stays the same until the content has
    /// landed.
    virtual std::byte* place_for(std::uint64_t slot) = 0;
    virtual void landed(std::uint64_t slot) = 0;   ///< a fetch for that slot is complete
    virtual void vacated(std::uint64_t slot) = 0;  ///< a peer has received the content of that slot of ours
};

class Transport {
  public:
    virtual ~Transport() = default;
    virtual bool reaches(int peer) const = 0;
    /// `pass` counts the byte ranges that this transport has moved, equal on all ranks. A peer may be one pass ahead of
    /// us.
    virtual void begin_pass(Slots const& slots, std::uint64_t pass, FetchListener& listener) = 0;
    /// The number of fetches that may be started from `peer` now.
    virtual std::size_t room(int peer) = 0;
    /// Starts at most `room(peer)` fetches; `landed` is called now or from `progress`.
    virtual void start(int peer, std::span<Fetch const> fetches) = 0;
    /// Returns true if data moved.
    virtual bool progress() = 0;
};

/// A transport between ranks of one node.
class NodeWay : public Transport {
  public:
    /// Meets the ranks of the node, and tells them where the array is. Call it before the first pass of each move.
    virtual void expose(std::byte* array) = 0;
    /// Sleeps until a peer has done something, or for a millisecond.
    virtual void sleep() = 0;
};

}  // namespace sluice::engine
