// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/reader/direct_reads.hpp"

#include <cstring>
#include <new>

namespace sluice::fetch {

namespace {

// At most this many bytes are read before other work gets its turn.
constexpr std::uint64_t k_bytes_a_look = 4 << 20;

}  // namespace

bool DirectReads::may_point(std::string_view mark) const noexcept {
    std::uint64_t node = 0;
    if (mark.size() != sizeof node) return false;
    std::memcpy(&node, mark.data(), sizeof node);
    return node != 0 && node == owners_->card().node;
}

void DirectReads::add(int owner, std::uint32_t slot, std::uint64_t bytes, std::string_view place) {
    Pending pending{owner, slot, bytes, {}};
    std::memcpy(&pending.place, place.data(), sizeof pending.place);
    try {
        pending_.push_back(pending);
    } catch (std::bad_alloc const&) {
        wire_->send(owner, {Kind::cannot_read, slot, {}, pending.place.ticket});
    }
}

bool DirectReads::read_into(Pending const& pending, std::span<std::byte> room) noexcept {
    node::Remote const owner = owners_->reach(pending.owner, pending.place.card, node::Touch::read);
    if (owner && owner.at(pending.place.address).read(room) == room.size()) return true;
    owners_->refuse(pending.owner);
    return false;
}

bool DirectReads::read(LocalReader& reader) {
    bool moved = false;
    for (std::uint64_t bytes = 0; !pending_.empty() && bytes < k_bytes_a_look;) {
        Pending const pending = pending_.front();
        std::span<std::byte> const room = reader.room_for(pending.slot, pending.bytes);
        if (room.data() == nullptr) break;  // no memory now; tried again later
        pending_.pop_front();
        bytes += pending.bytes;
        moved = true;
        bool const is_here = read_into(pending, room);
        wire_->send(pending.owner,
                    {is_here ? Kind::has_read : Kind::cannot_read, pending.slot, {}, pending.place.ticket});
        if (!is_here) continue;
        ++done_;
        reader.read_complete(pending.slot);
    }
    return moved;
}

}  // namespace sluice::fetch
