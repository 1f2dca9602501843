// SPDX-License-Identifier: BSD-3-Clause
#include "model/pool/pool_pull.hpp"

#include <sstream>
#include <stdexcept>

namespace sluice::tests::model {

PoolPull::PoolPull(Problem const& problem, int landing, bool one_store) : one_store_(one_store) {
    for (int rank = 0; rank < problem.ranks(); ++rank) {
        auto const number = static_cast<std::size_t>(rank);
        int const ahead = problem.spares[number];
        free_.push_back(one_store ? Places{0, ahead + landing} : Places{ahead, landing});
        auto& row = slots_.emplace_back(static_cast<std::size_t>(problem.slots(rank)));
        for (int index = 0; index < problem.slots(rank); ++index) {
            Slot& slot = row[static_cast<std::size_t>(index)];
            Address const here{rank, index};
            slot.source = problem.source[number][static_cast<std::size_t>(index)];
            slot.vacant = !problem.destination[number][static_cast<std::size_t>(index)].has_value();
            if (!slot.vacant) slot.content = here;
            if (!slot.source || *slot.source == here) slot.final_content = Content::landed;
        }
    }
    all_ = free_;
}

std::vector<PoolPull::Step> PoolPull::enabled() const {
    std::vector<Step> steps;
    for (int rank = 0; rank < static_cast<int>(slots_.size()); ++rank)
        for (int index = 0; index < static_cast<int>(slots_[static_cast<std::size_t>(rank)].size()); ++index) {
            Address const here{rank, index};
            Slot const& slot = at(here);
            if (slot.final_content == Content::asked) steps.push_back({Kind::answer, here, slot.source->rank});
            if (slot.final_content == Content::in_place && slot.vacant) steps.push_back({Kind::land, here, rank});
            if (slot.final_content != Content::at_source) continue;
            if (slot.vacant && slot.source->rank == rank)
                steps.push_back({Kind::move, here, rank});
            else if (has_place(rank, !slot.vacant))
                steps.push_back({slot.vacant ? Kind::ask : Kind::ask_ahead, here, rank});
        }
    return steps;
}

/// The block of the slot's source leaves it.
void PoolPull::copy_out(Address slot) {
    Address const from = *at(slot).source;
    Slot& source = at(from);
    if (source.vacant || source.content != from) throw std::logic_error("block " + text_of(from) + " is lost");
    source.vacant = true;
}

void PoolPull::put(Address slot) {
    Slot& target = at(slot);
    if (!target.vacant) throw std::logic_error("slot " + text_of(slot) + " is overwritten while its block is needed");
    target.content = target.source;
    target.final_content = Content::landed;
}

void PoolPull::apply(Step step) {
    Slot& slot = at(step.slot);
    switch (step.kind) {
        case Kind::answer:
            copy_out(step.slot);
            slot.final_content = Content::in_place;
            break;
        case Kind::ask:
        case Kind::ask_ahead:
            slot.ahead = step.kind == Kind::ask_ahead;
            if (--free_places(step.slot.rank, slot.ahead) < 0) throw std::logic_error("a place is given twice");
            slot.final_content = Content::asked;
            break;
        case Kind::move:
            copy_out(step.slot);
            put(step.slot);
            break;
        case Kind::land:
            put(step.slot);
            ++free_places(step.slot.rank, slot.ahead);
            break;
    }
}

bool PoolPull::finished() const {
    for (auto const& row : slots_)
        for (Slot const& slot : row)
            if (slot.final_content != Content::landed) return false;
    return true;
}

bool PoolPull::is_right() const {
    for (auto const& row : slots_)
        for (Slot const& slot : row)
            if (slot.source && slot.content != slot.source) return false;
    for (std::size_t rank = 0; rank < free_.size(); ++rank)
        if (free_[rank].ahead != all_[rank].ahead || free_[rank].landing != all_[rank].landing) return false;
    return true;
}

std::string PoolPull::text() const {
    std::ostringstream text;
    for (std::size_t rank = 0; rank < slots_.size(); ++rank) {
        text << "rank " << rank << " (places free: " << free_[rank].ahead << " ahead, " << free_[rank].landing
             << " landing):";
        for (Slot const& slot : slots_[rank]) {
            text << ' ' << (slot.vacant ? "vacant" : slot.content ? text_of(*slot.content) : "?");
            if (slot.final_content == Content::landed)
                text << '!';
            else
                text << (slot.final_content == Content::in_place ? "+" : "<-") << text_of(*slot.source);
        }
        text << '\n';
    }
    return text.str();
}

}  // namespace sluice::tests::model
