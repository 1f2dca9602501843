// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/by_rank/packed_streams.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "redistribution/arguments.hpp"
#include "redistribution/by_rank/partner_table.hpp"

namespace sluice::redistribution {

std::optional<Error> fault_of(PackedBlocks const& blocks) {
    if (blocks.element_bytes == Bytes{}) return invalid("element_bytes is 0");
    if (blocks.sizes.size() != blocks.ranks.size())
        return invalid(std::to_string(blocks.sizes.size()) + " sizes and " + std::to_string(blocks.ranks.size()) +
                       " ranks were given; each block has one of both");
    if (blocks.sizes.size() >= std::numeric_limits<std::uint32_t>::max())
        return invalid(std::to_string(blocks.sizes.size()) + " packed blocks are more than one rank can have");
    std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / 2 / blocks.element_bytes.count;
    for (std::uint64_t const size : blocks.sizes) {
        if (size > most) return invalid("the sizes of the blocks do not fit into an address space together");
        most -= size;
    }
    return std::nullopt;
}

std::uint64_t unit_bytes_for(std::uint64_t bytes, std::uint64_t partners) {
    constexpr std::uint64_t k_line = 64;
    double const each = static_cast<double>(bytes) / static_cast<double>(std::max<std::uint64_t>(partners, 1));
    auto const least = static_cast<std::uint64_t>(4 * std::sqrt(each));
    return (least / k_line + 1) * k_line;
}

OutgoingStreams::OutgoingStreams(PackedBlocks const& blocks, Budget const& budget, memory::Meter& meter)
    : element_bytes_(blocks.element_bytes.count),
      streams_(memory::MeteredAllocator<OutgoingStream>(meter)),
      stream_of_(blocks.sizes.size(), 0, memory::MeteredAllocator<std::uint32_t>(meter)),
      sizes_(blocks.sizes.size(), 0, memory::MeteredAllocator<std::uint64_t>(meter)) {
    PartnerTable partners(budget);
    std::size_t count = 0;
    for (int const rank : blocks.ranks)
        if (rank >= 0 && partners.of(rank).blocks++ == 0) ++count;
    streams_.reserve(count + 1);
    partners.each(
        [this](Partner const& partner) { streams_.push_back({.rank = partner.rank, .first = partner.blocks}); });
    std::sort(streams_.begin(), streams_.end(), [](auto const& a, auto const& b) { return a.rank < b.rank; });
    std::uint64_t at = 0;
    for (std::size_t which = 0; which < streams_.size(); ++which) {
        OutgoingStream& stream = streams_[which];
        partners.existing(stream.rank).first = which;
        at += std::exchange(stream.first, at);
        stream.next = stream.first;
    }
    streams_.push_back({.first = at, .next = at});
    for (std::size_t block = 0; block < blocks.sizes.size(); ++block) {
        int const rank = blocks.ranks[block];
        std::uint64_t const which = rank < 0 ? count : partners.existing(rank).first;
        OutgoingStream& stream = streams_[which];
        stream_of_[block] = static_cast<std::uint32_t>(which);
        sizes_[stream.next++] = blocks.sizes[block];
        stream.bytes += blocks.sizes[block] * element_bytes_;
    }
}

std::uint64_t OutgoingStreams::bytes() const noexcept {
    std::uint64_t sum = 0;
    for (OutgoingStream const& stream : streams_)
        sum += stream.bytes;
    return sum;
}

std::uint64_t OutgoingStreams::units(std::uint64_t unit_bytes) const noexcept {
    std::uint64_t sum = 0;
    for (OutgoingStream const& stream : streams())
        sum += stream.bytes / unit_bytes;
    return sum;
}

template <class Visit>
void OutgoingStreams::each_block(Visit const& visit) noexcept {
    for (OutgoingStream& stream : streams_) {
        stream.next = stream.first;
        stream.filled = 0;
    }
    for (std::uint32_t const which : stream_of_)
        visit(streams_[which], sizes_[streams_[which].next++] * element_bytes_);
}

void OutgoingStreams::list_units(std::uint64_t unit_bytes, std::span<int> ranks) noexcept {
    std::size_t made = 0;
    each_block([&](OutgoingStream& stream, std::uint64_t bytes) {
        if (stream.rank < 0) return;
        std::uint64_t const all = stream.filled + bytes;
        for (std::uint64_t unit = 0; unit < all / unit_bytes; ++unit)
            ranks[made++] = stream.rank;
        stream.filled = all % unit_bytes;
    });
}

std::uint64_t OutgoingStreams::pack(std::byte* data, std::uint64_t unit_bytes, std::byte* tails) noexcept {
    std::byte const* from = data;
    std::byte* to = data;
    std::uint64_t copied = 0;
    each_block([&](OutgoingStream& stream, std::uint64_t bytes) {
        std::byte const* const end = from + bytes;
        if (stream.rank < 0) from = end;
        std::byte* const tail = tails + static_cast<std::size_t>(&stream - streams_.data()) * unit_bytes;
        while (from != end) {
            auto const left = static_cast<std::uint64_t>(end - from);
            if (stream.filled == 0 && left >= unit_bytes) {
                std::uint64_t const whole = left - left % unit_bytes;
                if (to != from) std::memmove(to, from, whole);
                if (to != from) copied += whole;
                to += whole;
                from += whole;
                continue;
            }
            std::uint64_t const part = std::min(unit_bytes - stream.filled, left);
            std::memcpy(tail + stream.filled, from, part);
            from += part;
            stream.filled += part;
            copied += part;
            if (stream.filled < unit_bytes) continue;
            std::memcpy(to, tail, unit_bytes);
            to += unit_bytes;
            copied += unit_bytes;
            stream.filled = 0;
        }
    });
    return copied;
}

std::uint64_t spread(std::byte* data, std::uint64_t unit_bytes, std::span<IncomingStream const> streams) noexcept {
    std::uint64_t tails = 0;  // of the streams before
    std::uint64_t units = 0;
    for (IncomingStream const& stream : streams) {
        tails += stream.bytes % unit_bytes;
        units += stream.bytes / unit_bytes;
    }
    std::uint64_t copied = 0;
    for (std::size_t which = streams.size(); which-- > 0;) {
        std::uint64_t const bytes = streams[which].bytes;
        std::uint64_t const whole = bytes - bytes % unit_bytes;
        tails -= bytes % unit_bytes;
        units -= bytes / unit_bytes;
        if (whole == 0 || tails == 0) continue;
        std::byte* const from = data + units * unit_bytes;
        std::memmove(from + tails, from, whole);
        copied += whole;
    }
    return copied;
}

}  // namespace sluice::redistribution
