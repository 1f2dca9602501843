// SPDX-License-Identifier: BSD-3-Clause
#include "report/summary/matrix.hpp"

#include <algorithm>
#include <array>

namespace sluice::report {

namespace {

/// The cells of one rank, by bin of the other rank.
using Row = std::array<record::Peer, record::k_peers>;

/// Adds what the rank had for each other member of its communicators, if the members follow a known rule.
void spread_over_members(record::RankRecord const& record, Row& sent) {
    std::uint32_t const world = record.head.world_size;
    std::uint64_t const used = std::min<std::uint64_t>(record.head.comms, record::k_comms);
    for (std::uint64_t i = 0; i < used; ++i) {
        record::Comm const& comm = record.comms[i];
        if (comm.each_messages == 0) continue;
        for (std::uint32_t member = 0; member < std::min(comm.size, world); ++member) {
            std::int64_t const rank = comm.members().at(member);
            if (member == comm.rank || rank < 0 || rank >= world) continue;
            record::Peer& peer = sent[record::bin_of(static_cast<std::uint32_t>(rank), world)];
            peer.bytes += comm.each_bytes;
            peer.messages += comm.each_messages;
        }
    }
}

}  // namespace

std::vector<Cell> cells_of(record::RankRecord const& record) {
    std::vector<Cell> cells;
    std::uint32_t const own = record::bin_of(record.head.world_rank, record.head.world_size);
    std::uint32_t const bins = std::min<std::uint32_t>(record.head.world_size, record::k_peers);
    Row sent = record.peers;
    spread_over_members(record, sent);
    auto const put = [&cells](std::uint32_t from, std::uint32_t to, record::Peer const& peer) {
        if (peer.bytes > 0 || peer.messages > 0) cells.push_back({from, to, peer.bytes, peer.messages});
    };
    for (std::uint32_t bin = 0; bin < own; ++bin)
        put(bin, own, record.received[bin]);
    for (std::uint32_t bin = 0; bin < bins; ++bin) {
        if (bin == own) {
            sent[bin].bytes += record.received[bin].bytes;
            sent[bin].messages += record.received[bin].messages;
        }
        put(own, bin, sent[bin]);
    }
    for (std::uint32_t bin = own + 1; bin < bins; ++bin)
        put(bin, own, record.received[bin]);
    return cells;
}

}  // namespace sluice::report
