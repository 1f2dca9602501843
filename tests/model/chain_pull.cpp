// SPDX-License-Identifier: BSD-3-Clause
#include "model/chain_pull.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace sluice::tests::model {

ChainPull::ChainPull(Problem const& problem, bool local_moves_last)
    : free_spares_(problem.spares), local_moves_last_(local_moves_last) {
    for (int rank = 0; rank < problem.ranks(); ++rank) {
        auto& row = slots_.emplace_back(static_cast<std::size_t>(problem.slots(rank)));
        for (int index = 0; index < problem.slots(rank); ++index) {
            Slot& slot = row[static_cast<std::size_t>(index)];
            Address const here{rank, index};
            slot.source = problem.source[static_cast<std::size_t>(rank)][static_cast<std::size_t>(index)];
            bool const live =
                problem.destination[static_cast<std::size_t>(rank)][static_cast<std::size_t>(index)].has_value();
            if (live) slot.content = here;
            slot.vacant = !live;
            if (!slot.source || *slot.source == here) slot.final_content = Place::landed;
        }
    }
}

bool ChainPull::may_fetch(Address slot) const {
    if (at(slot).final_content != Place::source) return false;
    if (!local_moves_last_ || at(slot).source->rank != slot.rank) return true;
    auto const& row = slots_[static_cast<std::size_t>(slot.rank)];
    return std::all_of(row.begin(), row.end(), [&](Slot const& other) {
        return other.final_content != Place::source || other.source->rank == slot.rank;
    });
}

std::vector<ChainPull::Step> ChainPull::enabled() const {
    std::vector<Step> steps;
    for (Address const notice : notices_)
        steps.push_back({Kind::notice, notice});
    for (int rank = 0; rank < static_cast<int>(slots_.size()); ++rank)
        for (int index = 0; index < static_cast<int>(slots_[static_cast<std::size_t>(rank)].size()); ++index) {
            Address const here{rank, index};
            Slot const& slot = at(here);
            if (slot.vacant && slot.final_content == Place::spare) steps.push_back({Kind::land, here});
            if (!may_fetch(here)) continue;
            if (slot.vacant)
                steps.push_back({Kind::pull, here});
            else if (free_spares_[static_cast<std::size_t>(rank)] > 0)
                steps.push_back({Kind::prefetch, here});
        }
    return steps;
}

Address ChainPull::fetch(Address slot) {
    Address const from = *at(slot).source;
    Slot& source = at(from);
    if (source.fetched || source.content != from) throw std::logic_error("block " + text_of(from) + " is lost");
    source.fetched = true;
    if (from.rank == slot.rank)
        source.vacant = true;
    else
        notices_.push_back(from);
    return from;
}

void ChainPull::put(Address slot, Address block) {
    Slot& target = at(slot);
    bool const needed = target.content && !target.fetched;
    if (needed) throw std::logic_error("slot " + text_of(slot) + " is overwritten while its block is needed");
    target.content = block;
    target.final_content = Place::landed;
}

void ChainPull::apply(Step step) {
    int& free_spares = free_spares_[static_cast<std::size_t>(step.slot.rank)];
    switch (step.kind) {
        case Kind::notice:
            notices_.erase(std::find(notices_.begin(), notices_.end(), step.slot));
            at(step.slot).vacant = true;
            break;
        case Kind::pull:
            put(step.slot, fetch(step.slot));
            break;
        case Kind::prefetch:
            --free_spares;
            fetch(step.slot);
            at(step.slot).final_content = Place::spare;
            break;
        case Kind::land:
            put(step.slot, *at(step.slot).source);
            ++free_spares;
            break;
    }
}

bool ChainPull::finished() const {
    bool done = notices_.empty();
    for (auto const& row : slots_)
        for (Slot const& slot : row)
            done = done && slot.final_content == Place::landed;
    return done;
}

bool ChainPull::is_right() const {
    for (auto const& row : slots_)
        for (Slot const& slot : row)
            if (slot.source && slot.content != slot.source) return false;
    return true;
}

std::string ChainPull::text() const {
    std::ostringstream text;
    for (std::size_t rank = 0; rank < slots_.size(); ++rank) {
        text << "rank " << rank << " (" << free_spares_[rank] << " spare free):";
        for (Slot const& slot : slots_[rank])
            text << ' '
                 << (slot.vacant    ? "vacant"
                     : slot.content ? text_of(*slot.content)
                                    : "?")
                 << (slot.final_content == Place::landed  ? "!"
                     : slot.final_content == Place::spare ? "+"
                                                          : "<-" + text_of(*slot.source));
        text << '\n';
    }
    return text.str();
}

}  // namespace sluice::tests::model
