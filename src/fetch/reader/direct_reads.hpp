// SPDX-License-Identifier: BSD-3-Clause
/// Single copies inside a node: the reader copies contiguous data directly from the owner's memory.
///
///     reader                                     owner
///     request_or_read  ────────────────────────> same node, contiguous, large enough
///     lies_at          <────────────────────────
///     reads, with one copy                       computes on
///     has_read         ────────────────────────> counted; the owner may change the data now
///     cannot_read      ────────────────────────> the owner sends the data
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string_view>

#include "fetch/owner/serving.hpp"
#include "fetch/wire.hpp"
#include "node/remote_memory.hpp"
#include "sluice/units.hpp"

namespace sluice::fetch {

/// The address of data as their owner sends it, byte for byte, in the text of lies_at.
struct Place {
    node::AccessCard card;
    std::uint64_t address = 0;
    std::uint64_t ticket = 0;
};

class DirectReads {
  public:
    /// Pieces of less than `least` bytes go in messages.
    DirectReads(Wire& wire, node::RemoteMemory& owners, Bytes least) : wire_(&wire), owners_(&owners), least_(least) {}

    /// Whether reading `bytes` from `owner` may pay; the request then carries `mark()`.
    bool may_read(int owner, std::uint64_t bytes) const noexcept {
        return bytes >= least_.count && owner != wire_->rank() && owners_->may_reach(owner);
    }
    /// Tells an owner which node the reader is on.
    std::uint64_t const& mark() const noexcept { return owners_->card().node; }
    /// On the owner: whether the reader that sent this mark can be told an address.
    bool may_point(std::string_view mark) const noexcept;
    Place place_of(std::byte const* data, std::uint64_t ticket) const noexcept {
        return {owners_->card(), reinterpret_cast<std::uintptr_t>(data), ticket};
    }

    /// On the reader: the data for `slot` can be read from the owner's memory. Without memory to remember that they
    /// are not read.
    void add(int owner, std::uint32_t slot, std::uint64_t bytes, std::string_view place);
    /// Reads the data that there is memory for into the room of `reader`'s slots; returns true if any was read or given
    /// up.
    bool read(LocalReader& reader);
    std::uint64_t done() const noexcept { return done_; }

  private:
    struct Pending {
        int owner;
        std::uint32_t slot;
        std::uint64_t bytes;
        Place place;
    };
    bool read_into(Pending const& pending, std::span<std::byte> room) noexcept;

    Wire* wire_;
    node::RemoteMemory* owners_;
    Bytes least_;
    std::deque<Pending> pending_;
    std::uint64_t done_ = 0;
};

}  // namespace sluice::fetch
