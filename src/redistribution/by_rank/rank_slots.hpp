// SPDX-License-Identifier: BSD-3-Clause
/// Chooses the slots of blocks of which only the ranks are known. Each rank tells its partners how many blocks it has
/// for them; a partner answers where they begin in its array. From there on a block's slot is a count, so no list of
/// destinations is ever made.
///
///     order any         | stay, most in their slots | from rank a | from rank b | …      as they were told of
///     order by_source   | from rank 0 | from rank 1 | … this rank's own … | …
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/context_state.hpp"
#include "redistribution/by_rank/partner_counts.hpp"
#include "redistribution/by_rank/partner_table.hpp"
#include "sluice/rank_plan.hpp"
#include "sluice/redistribute.hpp"

namespace sluice::redistribution {

/// Its answers are asked for in the order of the blocks.
class RankSlots {
  public:
    /// `ranks`: one for each block, which exists; negative: the block is dropped. The list must outlive this.
    RankSlots(engine::ContextState& context, std::span<int const> ranks, sluice::BlockOrder order)
        : context_(context), ranks_(ranks), order_(order), partners_(context.budget()) {}

    /// Collective. Returns the number of blocks of this rank afterwards. Throws the same Error on every rank if one has
    /// no memory, or less room than blocks that it gets.
    std::uint64_t choose(std::optional<std::uint64_t> room);

    /// As DestinationsFrom.
    std::span<Destination const> operator()(std::uint64_t first, std::span<Destination> room);

  private:
    struct Told {
        std::uint64_t number;
    };
    using Counts = ToldByPartners<Told>;

    std::optional<Error> fault_of_room(std::uint64_t after, std::optional<std::uint64_t> room) const;
    std::uint64_t lay_out(memory::LeasedVector<Counts::Item>& incoming);
    void go_to(std::uint64_t first);
    Destination next();
    std::uint64_t stays(std::uint64_t block);

    engine::ContextState& context_;
    std::span<int const> ranks_;
    sluice::BlockOrder order_;
    PartnerTable partners_;
    std::uint64_t staying_ = 0;
    std::uint64_t at_ = 0;    // the block whose destination is next
    std::uint64_t hole_ = 0;  // no slot below it is left for a block that stays
};

/// The fault in a list of ranks, if there is one.
std::optional<Error> fault_of_ranks(std::span<int const> ranks, int rank, int size);
/// The fault in the options of a call that chooses the slots.
std::optional<Error> fault_of_options_by_rank(RedistributeOptions const& options);

}  // namespace sluice::redistribution
