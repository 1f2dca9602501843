// SPDX-License-Identifier: BSD-3-Clause
/// Redistribution by rank. Each rank tells its partners how many blocks it has for them; a partner answers where they
/// begin in its array. From there on a block's slot is a count, so no list of destinations is ever made.
///
///     order any         | stay, most in their slots | from rank a | from rank b | …      as they were told of
///     order by_source   | from rank 0 | from rank 1 | … this rank's own … | …
#include "sluice/rank_plan.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "engine/context_state.hpp"
#include "engine/sparse/sparse_exchange.hpp"
#include "groups/agreement.hpp"
#include "groups/tags.hpp"
#include "memory/leased.hpp"
#include "redistribution/arguments.hpp"
#include "redistribution/partner_table.hpp"
#include "redistribution/plan_state.hpp"

namespace sluice {

namespace rd = redistribution;

namespace {

/// First how many blocks come, then, as the answer, where they begin.
struct Told {
    std::uint64_t number;
};

/// Memory for packets of counts.
constexpr Bytes k_packets{64 << 10};

/// What ranks tell this one.
class Taker {
  public:
    struct Item {
        int source;
        std::uint64_t number;
    };
    explicit Taker(engine::ContextState& context)
        : context_(context), items_(memory::LeasedAllocator<Item>(context.budget())) {}

    void accept(int source, Told const& told) {
        try {
            items_.push_back({source, told.number});
        } catch (std::bad_alloc const&) {
            fault_.emplace(ErrorCode::out_of_memory,
                           "rank " + std::to_string(context_.rank()) + " has no memory for the counts of its partners");
        }
    }
    void expect(Told const&) const noexcept {}

    memory::LeasedVector<Item>& items() noexcept { return items_; }
    std::optional<Error> const& fault() const noexcept { return fault_; }

  private:
    engine::ContextState& context_;
    memory::LeasedVector<Item> items_;
    std::optional<Error> fault_;
};

/// Collective: each rank sends `tell(send)` what it has for others, and gets what others have for it.
template <class Tell>
void exchange(engine::ContextState& context, Taker& taker, std::optional<Error> fault, Tell const& tell) {
    std::optional<engine::SparseExchange<Told, Taker>> sparse;
    try {
        if (!fault) sparse.emplace(context, nullptr, taker, k_packets, groups::tags::k_addresses);
    } catch (std::bad_alloc const&) {
        fault.emplace(ErrorCode::out_of_memory,
                      "rank " + std::to_string(context.rank()) + " has no memory to tell its partners of blocks");
    }
    context.agree_on_no_error(fault);
    tell([&](int to, std::uint64_t number) { sparse->send(to, Told{number}); });
    sparse->finish();
    context.agree_on_no_error(taker.fault());
}

/// Chooses the slots of this rank's blocks. Its answers are asked for in their order.
class Slots {
  public:
    Slots(engine::ContextState& context, std::span<int const> ranks, BlockOrder order)
        : context_(context), ranks_(ranks), order_(order), partners_(context.budget()) {}

    /// Collective. Returns the number of blocks of this rank afterwards.
    std::uint64_t choose(std::optional<std::uint64_t> room) {
        std::optional<Error> fault;
        try {
            for (int const rank : ranks_)
                if (rank >= 0) ++partners_.of(rank).blocks;
        } catch (std::bad_alloc const&) {
            fault.emplace(ErrorCode::out_of_memory,
                          "rank " + std::to_string(context_.rank()) + " has no memory for a table of its partners");
        }
        int const me = context_.rank();
        Taker counts(context_);
        exchange(context_, counts, fault, [&](auto const& send) {
            partners_.each([&](rd::Partner const& partner) {
                if (partner.rank != me) send(partner.rank, partner.blocks);
            });
        });
        std::uint64_t const after = lay_out(counts.items());
        context_.agree_on_no_error(fault_of_room(after, room));
        Taker begins(context_);
        exchange(context_, begins, std::nullopt, [&](auto const& send) {
            for (Taker::Item const& item : counts.items())
                send(item.source, item.number);
        });
        for (Taker::Item const& item : begins.items())
            partners_.existing(item.source).first = item.number;
        return after;
    }

    std::span<Destination const> operator()(std::uint64_t first, std::span<Destination> room) {
        if (first != at_) go_to(first);
        for (Destination& to : room)
            to = next();
        return room;
    }

  private:
    std::optional<Error> fault_of_room(std::uint64_t after, std::optional<std::uint64_t> room) const {
        if (!room || after <= *room) return std::nullopt;
        return rd::invalid("rank " + std::to_string(context_.rank()) + " gets " + std::to_string(after) +
                           " blocks and has room for " + std::to_string(*room));
    }

    /// Each count becomes the slot where its blocks begin. Returns the sum.
    std::uint64_t lay_out(memory::LeasedVector<Taker::Item>& incoming) {
        int const me = context_.rank();
        rd::Partner* const mine = partners_.find(me);
        staying_ = mine != nullptr ? mine->blocks : 0;
        std::uint64_t at = order_ == BlockOrder::any ? staying_ : 0;
        if (order_ == BlockOrder::by_source)
            std::sort(incoming.begin(), incoming.end(),
                      [](auto const& a, auto const& b) { return a.source < b.source; });
        bool placed = order_ == BlockOrder::any;
        auto const place_mine = [&] {
            if (mine != nullptr) mine->first = at;
            at += staying_;
            placed = true;
        };
        for (Taker::Item& item : incoming) {
            if (!placed && item.source > me) place_mine();
            at += std::exchange(item.number, at);
        }
        if (!placed) place_mine();
        return at;
    }

    void go_to(std::uint64_t first) {
        if (first < at_) {
            partners_.each([](rd::Partner& partner) { partner.told = 0; });
            at_ = hole_ = 0;
        }
        while (at_ < first)
            next();
    }

    Destination next() {
        std::uint64_t const block = at_++;
        int const rank = ranks_[block];
        if (rank < 0) return free_block;
        if (order_ == BlockOrder::any && rank == context_.rank())
            return {rank, static_cast<std::int64_t>(stays(block))};
        rd::Partner& partner = partners_.existing(rank);
        return {rank, static_cast<std::int64_t>(partner.first + partner.told++)};
    }

    /// A block behind those that stay fills the next slot before them that one leaves.
    std::uint64_t stays(std::uint64_t block) {
        if (block < staying_) return block;
        while (ranks_[hole_] == context_.rank())
            ++hole_;
        return hole_++;
    }

    engine::ContextState& context_;
    std::span<int const> ranks_;
    BlockOrder order_;
    rd::PartnerTable partners_;
    std::uint64_t staying_ = 0;
    std::uint64_t at_ = 0;    // the block whose destination is next
    std::uint64_t hole_ = 0;  // no slot below it is left for a block that stays
};

std::optional<Error> fault_of_ranks(std::span<int const> ranks, int rank, int size) {
    auto const wrong = std::find_if(ranks.begin(), ranks.end(), [&](int to) { return to >= size; });
    if (wrong == ranks.end()) return std::nullopt;
    return rd::invalid("block " + std::to_string(wrong - ranks.begin()) + " of rank " + std::to_string(rank) +
                       " is sent to rank " + std::to_string(*wrong) + "; there are " + std::to_string(size) + " ranks");
}

}  // namespace

struct RankPlan::State {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    std::optional<Plan> plan;
    std::shared_ptr<engine::ContextState> context;
};

RankPlan::RankPlan(Context& context, std::span<int const> ranks, RankPlanOptions const& options)
    : state_(std::make_unique<State>()) {
    state_->context = engine::ContextState::shared_by(context);
    engine::ContextState& shared = *state_->context;
    engine::Entry const entry(shared, "RankPlan");
    groups::Agreement agreement;
    agreement.fault(fault_of_ranks(ranks, shared.rank(), shared.size()));
    agreement.alike("order", options.order == BlockOrder::any ? "any" : "by_source");
    shared.meet("RankPlan", agreement);
    Slots slots(shared, ranks, options.order);
    state_->before = ranks.size();
    state_->after = slots.choose(options.room);
    state_->plan = Plan(rd::make_plan(context, std::max(state_->before, state_->after), std::nullopt, ranks.size(),
                                      std::ref(slots), options.redistribute));
}

RankPlan::~RankPlan() = default;
RankPlan::RankPlan(RankPlan&&) noexcept = default;
RankPlan& RankPlan::operator=(RankPlan&&) noexcept = default;

namespace {

template <class State>
State& existing(std::unique_ptr<State> const& state) {
    if (!state)
        throw rd::invalid("the RankPlan was moved from: use the object that it was moved to, or make a new one");
    return *state;
}

}  // namespace

std::uint64_t RankPlan::count_before() const {
    return existing(state_).before;
}
std::uint64_t RankPlan::count_after() const {
    return existing(state_).after;
}
std::uint64_t RankPlan::slots() const {
    return std::max(count_before(), count_after());
}

RedistributionReport RankPlan::apply(std::span<Blocks const> arrays) {
    return existing(state_).plan->apply(arrays);
}

RedistributionReport RankPlan::apply(std::span<Blocks const> arrays, std::optional<Error> const& fault) {
    State& state = existing(state_);
    engine::Entry const entry(*state.context, "RankPlan::apply");
    state.context->meet("RankPlan::apply", fault);
    state.context->end_questions();
    return state.plan->apply(arrays);
}

std::optional<Error> RankPlan::fault_of_vector(std::uint64_t size, std::uint64_t capacity, std::uint64_t before,
                                               std::uint64_t slots, Resize resize) {
    if (size != before)
        return rd::invalid("the list of ranks is for " + std::to_string(before) + " blocks, the vector has " +
                           std::to_string(size));
    if (resize == Resize::must_fit && capacity < slots)
        return rd::invalid("the vector has room for " + std::to_string(capacity) + " blocks, and gets " +
                           std::to_string(slots));
    return std::nullopt;
}

}  // namespace sluice
