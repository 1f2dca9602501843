// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/by_rank/tail_exchange.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "groups/tags.hpp"
#include "mpi/mpi.hpp"

namespace sluice::redistribution {

namespace {

constexpr int k_tail_tag = groups::tags::k_tails.first;
constexpr std::uint64_t k_most_bytes_of_message = std::uint64_t{1} << 30;

}  // namespace

TailExchange::TailExchange(engine::ContextState& context, std::size_t partners)
    : context_(context),
      window_(std::clamp<std::uint64_t>(2 * partners, 2, context.settings().outstanding_requests), context.meter()) {}

void TailExchange::run(OutgoingStreams const& outgoing, std::span<IncomingStream const> incoming,
                       std::uint64_t unit_bytes, std::byte const* tails, std::byte* data, std::uint64_t* sizes) {
    std::span<OutgoingStream const> const streams = outgoing.streams();
    int const me = context_.rank();
    int const ranks = context_.size();
    auto const is_below = [me](auto const& stream) { return stream.rank < me; };
    auto const is_at_most = [me](auto const& stream) { return stream.rank <= me; };
    // At distance d a rank receives from rank + d and sends to rank − d: see RequestWindow. Both lists are circles.
    auto const first_in = static_cast<std::size_t>(std::ranges::partition_point(incoming, is_below) - incoming.begin());
    auto const after_out =
        static_cast<std::size_t>(std::ranges::partition_point(streams, is_at_most) - streams.begin());
    std::uint64_t byte_at = 0;
    std::uint64_t block_at = 0;
    auto const pass_over = [&](IncomingStream const& stream) {
        byte_at += stream.bytes;
        block_at += stream.blocks;
    };
    for (std::size_t which = 0; which < first_in; ++which)
        pass_over(incoming[which]);
    std::size_t ins = 0;
    std::size_t outs = 0;
    auto const next_in = [&] { return (first_in + ins) % incoming.size(); };
    auto const next_out = [&] { return (after_out + streams.size() - 1 - outs) % streams.size(); };
    auto const distance = [ranks](int to, int from) { return (to - from + ranks) % ranks; };
    for (;;) {
        int const in_distance = ins < incoming.size() ? distance(incoming[next_in()].rank, me) : ranks;
        int const out_distance = outs < streams.size() ? distance(me, streams[next_out()].rank) : ranks;
        int const nearest = std::min(in_distance, out_distance);
        if (nearest == ranks) break;
        Outgoing tail_out{};
        Outgoing sizes_out{};
        Incoming tail_in{};
        Incoming sizes_in{};
        if (out_distance == nearest) {
            std::size_t const which = next_out();
            std::span<std::byte const> const list = std::as_bytes(outgoing.sizes_of(which));
            sizes_out = {streams[which].rank, list.data(), list.size()};
            tail_out = {streams[which].rank, tails + which * unit_bytes, streams[which].bytes % unit_bytes};
            ++outs;
        }
        if (in_distance == nearest) {
            std::size_t const which = next_in();
            if (which == 0) byte_at = block_at = 0;
            IncomingStream const& stream = incoming[which];
            std::uint64_t const tail = stream.bytes % unit_bytes;
            sizes_in = {stream.rank, reinterpret_cast<std::byte*>(sizes + block_at),
                        stream.blocks * sizeof(std::uint64_t)};
            tail_in = {stream.rank, data + byte_at + (stream.bytes - tail), tail};
            pass_over(stream);
            ++ins;
        }
        swap(sizes_out, sizes_in);
        swap(tail_out, tail_in);
    }
    window_.drain();
}

void TailExchange::swap(Outgoing out, Incoming in) {
    if (out.bytes > 0 && out.to == context_.rank()) {  // so `in` is its other end
        std::memcpy(in.data, out.data, out.bytes);
        return;
    }
    while (in.bytes > 0 || out.bytes > 0) {
        if (std::uint64_t const piece = std::min(in.bytes, k_most_bytes_of_message); piece > 0) {
            mpi::check(MPI_Irecv(in.data, static_cast<int>(piece), MPI_BYTE, in.from, k_tail_tag, context_.comm(),
                                 window_.next()),
                       "MPI_Irecv");
            in.data += piece;
            in.bytes -= piece;
        }
        if (std::uint64_t const piece = std::min(out.bytes, k_most_bytes_of_message); piece > 0) {
            mpi::check(MPI_Isend(out.data, static_cast<int>(piece), MPI_BYTE, out.to, k_tail_tag, context_.comm(),
                                 window_.next()),
                       "MPI_Isend");
            out.data += piece;
            out.bytes -= piece;
        }
    }
}

}  // namespace sluice::redistribution
