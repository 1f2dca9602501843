// SPDX-License-Identifier: BSD-3-Clause
#include "model/small/relay.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace sluice::tests::model {

Relay::Relay(Problem const& problem, int channel_capacity, Mistake mistake)
    : problem_(problem), capacity_(static_cast<std::size_t>(channel_capacity)), mistake_(mistake) {
    for (int rank = 0; rank < problem.ranks(); ++rank) {
        Rank& made = ranks_.emplace_back();
        made.slots.resize(static_cast<std::size_t>(problem.slots(rank)));
        made.channels.resize(problem.destination.size());
        made.owed.resize(problem.destination.size());
        made.credits = problem.spares[static_cast<std::size_t>(rank)];
        all_credits_ += static_cast<std::size_t>(made.credits);
        for (int slot = 0; slot < problem.slots(rank); ++slot) {
            Slot& here = made.slots[static_cast<std::size_t>(slot)];
            auto const& to = destination(rank, slot);
            if (to) here.block = Address{rank, slot};
            here.has_left = !to || *to == Address{rank, slot};
        }
    }
}

bool Relay::has_room(int from, int to) const {
    return from != to && of(to).channels[static_cast<std::size_t>(from)].size() < capacity_;
}

bool Relay::may_take(int rank, Traveller const& traveller) const {
    if (mistake_ != Mistake::waits_for_channels) return true;
    if (of(rank).slots[static_cast<std::size_t>(traveller.to.slot)].has_left) return true;
    return has_room(rank, destination(rank, traveller.to.slot)->rank);
}

std::vector<Relay::Step> Relay::enabled() const {
    std::vector<Step> steps;
    int const ranks = static_cast<int>(ranks_.size());
    for (int rank = 0; rank < ranks; ++rank) {
        Rank const& me = of(rank);
        for (int other = 0; other < ranks; ++other) {
            auto const& channel = me.channels[static_cast<std::size_t>(other)];
            if (!channel.empty() && may_take(rank, channel.front())) steps.push_back({Kind::take, rank, other});
            if (me.owed[static_cast<std::size_t>(other)] > 0) steps.push_back({Kind::give_back, rank, other});
        }
        for (int slot = 0; slot < problem_.slots(rank) && me.credits > 0; ++slot)
            if (!me.slots[static_cast<std::size_t>(slot)].has_left) steps.push_back({Kind::start, rank, slot});
        for (int place = 0; place < static_cast<int>(me.store.size()); ++place) {
            int const to = me.store[static_cast<std::size_t>(place)].to.rank;
            if (to == rank || has_room(rank, to)) steps.push_back({Kind::forward, rank, place});
        }
    }
    return steps;
}

/// Into the channel to its rank, else into the store of this one.
void Relay::go(int rank, Traveller const& traveller) {
    if (has_room(rank, traveller.to.rank)) {
        ranks_[static_cast<std::size_t>(traveller.to.rank)].channels[static_cast<std::size_t>(rank)].push_back(
            traveller);
        return;
    }
    auto& store = ranks_[static_cast<std::size_t>(rank)].store;
    if (store.size() == all_credits_) throw std::logic_error("more blocks are on their way than there are credits");
    store.push_back(traveller);
}

void Relay::land(int rank, Traveller const& traveller) {
    Rank& me = ranks_[static_cast<std::size_t>(rank)];
    Slot& slot = me.slots[static_cast<std::size_t>(traveller.to.slot)];
    std::optional<Traveller> displaced;
    if (!slot.has_left)
        displaced = Traveller{*slot.block, *destination(rank, traveller.to.slot), traveller.credit};
    else if (slot.block)
        throw std::logic_error("a block is overwritten");
    slot = {traveller.from, true};
    if (displaced) return go(rank, *displaced);
    int const creditor = mistake_ == Mistake::keeps_credits ? rank : traveller.credit;
    if (creditor == rank)
        ++me.credits;
    else
        ++me.owed[static_cast<std::size_t>(creditor)];
}

void Relay::apply(Step step) {
    Rank& me = ranks_[static_cast<std::size_t>(step.rank)];
    auto const which = static_cast<std::size_t>(step.which);
    switch (step.kind) {
        case Kind::give_back:
            ranks_[which].credits += std::exchange(me.owed[which], 0);
            return;
        case Kind::start: {
            Slot& slot = me.slots[which];
            Address const from = *slot.block;
            slot = {std::nullopt, true};
            --me.credits;
            return go(step.rank, {from, *destination(step.rank, step.which), step.rank});
        }
        case Kind::take: {
            Traveller const traveller = me.channels[which].front();
            me.channels[which].pop_front();
            return land(step.rank, traveller);
        }
        case Kind::forward: {
            Traveller const traveller = me.store[which];
            me.store.erase(me.store.begin() + step.which);
            if (traveller.to.rank == step.rank) return land(step.rank, traveller);
            return go(step.rank, traveller);
        }
    }
}

bool Relay::finished() const {
    return std::ranges::all_of(ranks_, [](Rank const& rank) {
        return rank.store.empty() && std::ranges::all_of(rank.slots, &Slot::has_left) &&
               std::ranges::all_of(rank.channels, [](auto const& channel) { return channel.empty(); });
    });
}

bool Relay::is_right() const {
    for (int rank = 0; rank < problem_.ranks(); ++rank)
        for (int slot = 0; slot < problem_.slots(rank); ++slot)
            if (of(rank).slots[static_cast<std::size_t>(slot)].block !=
                problem_.source[static_cast<std::size_t>(rank)][static_cast<std::size_t>(slot)])
                return false;
    return true;
}

std::string Relay::text() const {
    std::ostringstream text;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        text << "rank " << rank << ':';
        for (Slot const& slot : ranks_[rank].slots)
            text << ' ' << (slot.block ? text_of(*slot.block) : "vacant") << (slot.has_left ? "" : "?");
        text << "; " << ranks_[rank].credits << " credits; in store:";
        for (Traveller const& traveller : ranks_[rank].store)
            text << " to " << text_of(traveller.to);
        text << "; waiting for it:";
        for (auto const& channel : ranks_[rank].channels)
            text << ' ' << channel.size();
        text << '\n';
    }
    return text.str();
}

}  // namespace sluice::tests::model
