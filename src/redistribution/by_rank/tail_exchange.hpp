// SPDX-License-Identifier: BSD-3-Clause
/// The sizes of packed blocks and the tails of their streams: both go by message from every rank to each of its
/// partners, and both ends know how much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/context_state.hpp"
#include "redistribution/by_rank/packed_streams.hpp"
#include "redistribution/strategies/moving/request_window.hpp"

namespace sluice::redistribution {

/// Only the constructor allocates: at most 48 bytes for each partner.
class TailExchange {
  public:
    TailExchange(engine::ContextState& context, std::size_t partners);

    /// Collective. `tails` has a unit for each outgoing stream. The tails of `incoming`, which is sorted by rank, come
    /// into the room that spread() has left in `data`, the sizes into `sizes`.
    void run(OutgoingStreams const& outgoing, std::span<IncomingStream const> incoming, std::uint64_t unit_bytes,
             std::byte const* tails, std::byte* data, std::uint64_t* sizes);

    std::uint64_t requests_peak() const noexcept { return window_.peak(); }

  private:
    struct Outgoing {
        int to;
        std::byte const* data;
        std::uint64_t bytes;
    };
    struct Incoming {
        int from;
        std::byte* data;
        std::uint64_t bytes;
    };
    /// Pieces in turns: the piece that is the first still open of all ranks has its send and its receive posted, so two
    /// requests suffice.
    void swap(Outgoing out, Incoming in);

    engine::ContextState& context_;
    RequestWindow window_;
};

}  // namespace sluice::redistribution
