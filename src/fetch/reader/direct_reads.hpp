// SPDX-License-Identifier: BSD-3-Clause
/// Single copies inside a node: data that lie side by side in their owner's memory are read there by who fetches them.
///
///     reader                                     owner
///     request_or_read  ────────────────────────> shares our node, lies side by side, large enough
///     lies_at          <────────────────────────
///     reads (process_vm_readv)                   computes on
///     has_read         ────────────────────────> counted; may change it now
///     cannot_read      ────────────────────────> sends it
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string_view>

#include "fetch/owner/serving.hpp"
#include "fetch/wire.hpp"
#include "node/peer_access.hpp"
#include "sluice/units.hpp"

namespace sluice::fetch::detail {

/// What an owner says of where data lie. Travels as the text of lies_at.
struct Place {
    node::AccessCard card;
    std::uint64_t address = 0;
    std::uint64_t ticket = 0;
};

class DirectReads {
  public:
    /// Pieces of less than `least` bytes travel in messages.
    DirectReads(Wire& wire, node::PeerAccess& access, Bytes least) : wire_(&wire), access_(&access), least_(least) {}

    /// Whether `bytes` of `owner` may be worth a read; then the request carries `mark()`.
    bool may_read(int owner, std::uint64_t bytes) const noexcept {
        return bytes >= least_.count && owner != wire_->rank() && access_->is_possible(owner);
    }
    /// What tells an owner that a reader shares its node.
    std::uint64_t const& mark() const noexcept { return access_->card().node; }
    /// On the owner: whether whoever sent this mark can be told where data lie.
    bool may_point(std::string_view mark) const noexcept;
    Place place_of(std::byte const* data, std::uint64_t ticket) const noexcept {
        return {access_->card(), reinterpret_cast<std::uintptr_t>(data), ticket};
    }

    /// On the reader: data for `slot` lie in the owner's memory.
    void add(int owner, std::uint32_t slot, std::uint64_t bytes, std::string_view place);
    /// Reads what there is memory for, into the room of `reader`'s slots; true when something was read or given up.
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
    node::PeerAccess* access_;
    Bytes least_;
    std::deque<Pending> pending_;
    std::uint64_t done_ = 0;
};

}  // namespace sluice::fetch::detail
