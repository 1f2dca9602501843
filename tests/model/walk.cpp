// SPDX-License-Identifier: BSD-3-Clause
#include "model/walk.hpp"

#include <sstream>
#include <stdexcept>

namespace sluice::tests::model {

Walk::Walk(Problem const& problem, bool live_first) : problem_(problem), live_first_(live_first) {
    for (int rank = 0; rank < problem.ranks(); ++rank) {
        auto const& row = problem.destination[static_cast<std::size_t>(rank)];
        Rank& made = ranks_.emplace_back();
        made.slots.resize(row.size());
        made.hands.resize(static_cast<std::size_t>(problem.spares[static_cast<std::size_t>(rank)]));
        for (std::size_t slot = 0; slot < row.size(); ++slot) {
            made.slots[slot].is_live = row[slot].has_value();
            if (row[slot]) made.slots[slot].block = Address{rank, static_cast<int>(slot)};
        }
    }
}

std::vector<Walk::Step> Walk::enabled() const {
    std::vector<Step> steps;
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
        Rank const& me = ranks_[static_cast<std::size_t>(rank)];
        for (int i = 0; i < static_cast<int>(me.hands.size()); ++i) {
            Hand const& hand = me.hands[static_cast<std::size_t>(i)];
            bool const has_starts = me.looked < 2 * problem_.slots(rank);
            if (hand.state == State::idle && has_starts) steps.push_back({Kind::start, rank, i});
            if (hand.state == State::walking) steps.push_back({Kind::claim, rank, i});
            if (hand.state == State::saving || hand.state == State::copying) steps.push_back({Kind::copy, rank, i});
            if (hand.state == State::waiting && me.slots[static_cast<std::size_t>(hand.start->slot)].told.has_value())
                steps.push_back({Kind::put, rank, i});
        }
    }
    return steps;
}

void Walk::apply(Step step) {
    Hand& hand = ranks_[static_cast<std::size_t>(step.rank)].hands[static_cast<std::size_t>(step.hand)];
    switch (step.kind) {
        case Kind::start:
            return start(step.rank, hand);
        case Kind::claim:
            return claim(hand);
        case Kind::copy:
            if (hand.state == State::saving) {
                hand.saved = at(hand.vacant).block;
                at(hand.vacant).block.reset();
            } else {
                Address const from = *source(hand.vacant);
                put(hand, hand.vacant);
                hand.vacant = from;
            }
            hand.state = State::walking;
            return;
        case Kind::put:
            put(hand, *at(*hand.start).told);
            hand.state = State::idle;
    }
}

/// Takes the next start of the rank; one look is one step.
void Walk::start(int rank, Hand& hand) {
    Rank& me = ranks_[static_cast<std::size_t>(rank)];
    int const turn = me.looked++;
    bool const wants_live = (turn >= problem_.slots(rank)) != live_first_;
    Address const here{rank, turn % problem_.slots(rank)};
    Slot& slot = at(here);
    if (slot.is_live != wants_live || slot.is_claimed || !source(here) || *source(here) == here) return;
    hand.vacant = here;
    hand.start.reset();
    hand.state = State::walking;
    if (!slot.is_live) return;
    slot.is_claimed = true;
    hand.start = here;
    hand.state = State::saving;
}

void Walk::claim(Hand& hand) {
    auto const from = source(hand.vacant);
    hand.state = hand.start ? State::waiting : State::idle;
    if (!from) return;
    Slot& slot = at(*from);
    if (!slot.is_claimed) {
        slot.is_claimed = true;
        hand.state = State::copying;
    } else if (hand.start && *hand.start == *from) {
        slot.told = hand.vacant;  // the cycle is closed: the hand tells itself
    } else {
        if (slot.told) throw std::logic_error("two hands came to one slot");
        slot.told = hand.vacant;
    }
}

/// A walking hand copies from the slot whose block it has claimed, another one its saved block.
void Walk::put(Hand& hand, Address to) {
    std::optional<Address>& from = hand.state == State::copying ? at(*source(to)).block : hand.saved;
    if (!from || at(to).block) throw std::logic_error("a block is lost or overwritten");
    at(to).block = *from;
    from.reset();
}

bool Walk::finished() const {
    for (Rank const& rank : ranks_) {
        if (rank.looked < 2 * static_cast<int>(rank.slots.size())) return false;
        for (Hand const& hand : rank.hands)
            if (hand.state != State::idle) return false;
    }
    return true;
}

bool Walk::is_right() const {
    for (int rank = 0; rank < problem_.ranks(); ++rank)
        for (int slot = 0; slot < problem_.slots(rank); ++slot)
            if (ranks_[static_cast<std::size_t>(rank)].slots[static_cast<std::size_t>(slot)].block !=
                source({rank, slot}))
                return false;
    return true;
}

std::string Walk::text() const {
    std::ostringstream text;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        text << "rank " << rank << ':';
        for (Slot const& slot : ranks_[rank].slots)
            text << ' ' << (slot.block ? text_of(*slot.block) : "vacant") << (slot.is_claimed ? "*" : "");
        text << "; hands:";
        for (Hand const& hand : ranks_[rank].hands)
            text << ' ' << static_cast<int>(hand.state);
        text << '\n';
    }
    return text.str();
}

}  // namespace sluice::tests::model
