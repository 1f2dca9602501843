// SPDX-License-Identifier: BSD-3-Clause
/// Pack, exchange, unpack without maps, as a good program does by hand, for one call of `auto` where memory has room:
///
///     count ──> open ──────────> move ──────────────────────────────────────────────────────────────────────
///     of each   which form, and   pack blocks and indices ──> exchange indices ──> check ──> exchange, unpack
///     rank      the copies                                                        all slots
///                                                                                 once
///
/// Nothing in the array changes before all ranks have checked the indices that came to them. A fault ends the form on
/// all ranks with the array as it was; the exchange of addresses then words the error.
///
/// The copies, one buffer of the Context that is kept from call to call under a lease:
///
///     | taken, a bit a slot | indices out | indices in | blocks out | blocks in, from others | blocks that stay |
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "memory/metered_bytes.hpp"
#include "memory/staging_pool.hpp"
#include "redistribution/address_exchange.hpp"
#include "redistribution/strategies/automatic.hpp"
#include "redistribution/strategies/moving/exchange.hpp"
#include "sluice/redistribute.hpp"

namespace sluice::redistribution {

class Packed {
  public:
    Packed(Packed const&) = delete;
    Packed& operator=(Packed const&) = delete;
    /// Local. Memory: 56 bytes for each rank. Throws std::bad_alloc. The arguments outlive the object.
    Packed(engine::ContextState& context, Blocks const& blocks, std::uint64_t live,
           DestinationsFrom const& destinations);

    /// The bytes of the blocks and indices that are certainly copied if `live` blocks move.
    static Bytes least_copies(std::uint64_t live, std::uint64_t block_bytes) noexcept;
    /// Collective. Chooses between this form and token from the counts of all ranks, and takes the copies for this one.
    /// `facts` are those that are known already. Nothing is chosen for a map with a fault, and where a rank has no
    /// memory for the copies.
    std::optional<Choice> open(node::Node const& node, Facts facts);

    /// Collective, after open() has chosen alltoallv. Returns false if the map has a fault, and nothing has changed.
    bool move(RedistributionReport& report);

  private:
    template <typename Visit>
    bool each(Visit const& visit) const;
    template <bool CountsOrder>
    bool count_moves();
    bool count();
    void exchange_counts();
    Bytes lay_out(std::uint64_t most_slots);
    bool fits_one_call(std::uint64_t block_bytes) const;
    bool take_copies(Bytes bytes);
    static bool mark(std::uint64_t* taken, std::uint64_t slots, std::uint64_t slot) noexcept;
    static constexpr std::size_t k_marked_at_once = 8;
    template <typename Index>
    static bool is_run(std::span<Index const, k_marked_at_once> indices) noexcept;
    static bool mark_run(std::uint64_t* taken, std::uint64_t first) noexcept;
    template <typename Index, typename Copy>
    bool pack();
    template <typename Index>
    bool check_indices();
    template <typename Index, typename Copy>
    void unpack();
    template <typename Index, typename Pack, typename Unpack>
    bool move_as(RedistributionReport& report);
    template <std::size_t Fixed>
    bool move_fixed(RedistributionReport& report);
    template <typename T>
    T* at(std::uint64_t offset) const noexcept {
        return reinterpret_cast<T*>(copies_->bytes().data() + offset);
    }

    engine::ContextState& context_;
    Blocks const& blocks_;
    std::uint64_t live_;
    DestinationsFrom const& destinations_;
    int rank_;
    Exchange exchange_;
    memory::MeteredVector<std::uint64_t> send_counts_;
    memory::MeteredVector<std::uint64_t> receive_counts_;
    memory::MeteredVector<std::uint64_t> next_;  // where the next block for each rank goes
    std::uint64_t outgoing_ = 0;
    std::uint64_t incoming_ = 0;
    std::uint64_t staying_ = 0;  // blocks that stay on this rank and move
    MovesInMap moves_;
    bool has_fault_ = false;
    bool has_long_indices_ = false;
    bool fits_everywhere_ = false;   // each exchange into one call
    std::uint64_t indices_out_ = 0;  // these are offsets in the copies
    std::uint64_t indices_in_ = 0;
    std::uint64_t blocks_out_ = 0;
    std::uint64_t blocks_in_ = 0;
    std::optional<memory::Staging> copies_;
    std::optional<memory::MeteredUse> use_;
};

}  // namespace sluice::redistribution
