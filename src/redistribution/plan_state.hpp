// SPDX-License-Identifier: BSD-3-Clause
/// The state of a Plan: the validated map, the strategy for it, and the staging while it moves. A call without a plan
/// makes one for itself.
///
///     take_map  ->  choose (auto only)  ->  prepare  ->  move, move, …
///      map valid     strategy for this       lease and all    no failure from here on
///      on all ranks  block size              memory taken
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/context_state.hpp"
#include "redistribution/address_exchange.hpp"
#include "redistribution/address_map.hpp"
#include "redistribution/measured_call.hpp"
#include "redistribution/strategies/strategy.hpp"
#include "sluice/budget.hpp"
#include "sluice/redistribute.hpp"

namespace sluice {

struct Plan::State {
    State(Context const& made_on, std::uint64_t count, RedistributeOptions const& options);
    ~State() { context.tell_if_late("a Plan"); }
    State(State const&) = delete;
    State& operator=(State const&) = delete;

    /// Collective. Validates the map and keeps the parts that the strategy needs. `live`: number of blocks that
    /// `destinations` is asked for. `most_slots`: the largest of all ranks. `once`: the one array that is moved once,
    /// or null for a plan that may move several; `are_shared`: it may be shared on all ranks. `inverse`: that of the
    /// destinations, empty if the caller gave none.
    void take_map(std::uint64_t live, redistribution::DestinationsFrom const& destinations, std::uint64_t most_slots,
                  Blocks const* once, bool are_shared, InverseFunction const& inverse);

    /// Local, before the first agreement: whether strategy `auto` may copy the `live` blocks of this rank.
    bool may_copy(std::uint64_t live, Blocks const& blocks) const;
    /// Collective, in place of take_map(), prepare() and move(), for one call of `auto` in which all ranks may copy.
    /// Moves the blocks by packed copies if that is predicted to be fastest. Returns false if the other steps are to
    /// follow; the strategy may be chosen then.
    bool move_packed(std::uint64_t live, redistribution::DestinationsFrom const& destinations, std::uint64_t most_slots,
                     Blocks const& blocks, redistribution::ReportedCall& call);

    /// Local: whether this rank's array may be mapped by the others, for the strategy of this plan.
    bool may_share(Blocks const& blocks) const noexcept;
    /// Collective, before prepare() of a plan that moves several arrays: the next one, if it may be shared on all
    /// ranks, else null.
    void share(Blocks const* blocks);

    /// Collective. Prepares a strategy with all its memory, in the requested staging or else in the smallest.
    void prepare(std::uint64_t block_bytes);

    void move(std::byte* data, RedistributionReport& report);

    /// Bytes that the plan holds on this rank between moves.
    Bytes memory() const;

    std::shared_ptr<engine::ContextState> owner;  // a plan may outlive its Context
    engine::ContextState& context;
    std::uint64_t slots;
    Bytes staging;
    Strategy strategy;

  private:
    /// The ranks that have the memory of a strategy.
    enum class Ready { everywhere, not_elsewhere, not_here };

    redistribution::Problem problem_with(std::uint64_t block_bytes, Bytes bytes);
    bool take_shared_map(std::uint64_t live, redistribution::DestinationsFrom const& destinations,
                         Blocks const& blocks);
    bool try_share(Blocks const& blocks);
    void choose_walk();
    void choose(std::uint64_t block_bytes, bool may_copy);
    void drop_maps();
    bool is_open() const { return strategy == Strategy::automatic && !is_chosen_; }
    Ready try_prepare(std::uint64_t block_bytes, Bytes bytes);
    bool moves_once() const { return facts_.block_bytes.has_value(); }

    redistribution::StrategyEntry const* entry_ =
        nullptr;              // the strategy that moves; `auto` chooses one for each block size
    bool is_chosen_ = false;  // `auto` has chosen token before there was a map
    std::string why_;
    std::optional<Error> refusal_;  // why the strategy could not be prepared, if it said so
    redistribution::AddressCounts counts_;
    std::optional<redistribution::AddressMap> forward_;
    std::optional<redistribution::AddressMap> inverse_;
    redistribution::MapFacts facts_{};
    Lease lease_;
    std::optional<redistribution::SharedForm> shared_;
    std::unique_ptr<engine::PlaceMemory> places_;  // of the mover; outlives it
    bool is_shared_ = false;                       // the array that is moved next
    std::shared_ptr<node::Node> node_;  // shared, because another call may make the context replace its rings
    std::optional<redistribution::Problem> problem_;  // must outlive the mover
    std::unique_ptr<redistribution::Mover> mover_;    // null until all ranks have its memory
};

namespace redistribution {

/// Collective: a plan for arrays of `count` slots, of which the blocks below `live` have destinations. `fault`: what
/// this rank found wrong.
std::unique_ptr<Plan::State> make_plan(Context const& context, std::uint64_t count, std::optional<Error> const& fault,
                                       std::uint64_t live, DestinationsFrom const& destinations,
                                       RedistributeOptions const& options);

/// Collective: moves `blocks` once, without a plan that stays, and adds what it does to the report of `call`. The
/// blocks below `live` have destinations. `fault`: what this rank found wrong.
void move_once(Context const& context, Blocks const& blocks, std::optional<Error> fault, std::uint64_t live,
               DestinationsFrom const& destinations, RedistributeOptions const& options, ReportedCall& call);

}  // namespace redistribution

}  // namespace sluice
