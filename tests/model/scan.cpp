// SPDX-License-Identifier: BSD-3-Clause
#include "model/scan.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace sluice::tests::model {

Scan::Scan(Problem const& problem, int channel_capacity, bool one_cursor)
    : problem_(problem), capacity_(static_cast<std::size_t>(channel_capacity)), one_cursor_(one_cursor) {
    for (int rank = 0; rank < problem.ranks(); ++rank) {
        auto const& row = problem.destination[static_cast<std::size_t>(rank)];
        Rank& made = ranks_.emplace_back();
        made.places.resize(row.size() + static_cast<std::size_t>(problem.spares[static_cast<std::size_t>(rank)]));
        made.channels.resize(problem.destination.size());
        for (std::size_t slot = 0; slot < row.size(); ++slot)
            if (row[slot]) made.places[slot] = Block{{rank, static_cast<int>(slot)}, *row[slot]};
    }
}

bool Scan::leaves(int rank, int place) const {
    auto const& block = ranks_[static_cast<std::size_t>(rank)].places[static_cast<std::size_t>(place)];
    return block && block->to.rank != rank;
}

std::optional<std::size_t> Scan::landing_place(int rank, Block const& block) const {
    auto const& places = ranks_[static_cast<std::size_t>(rank)].places;
    if (!places[static_cast<std::size_t>(block.to.slot)]) return static_cast<std::size_t>(block.to.slot);
    auto const vacant = std::find(places.begin(), places.end(), std::nullopt);
    if (vacant == places.end()) return std::nullopt;
    return static_cast<std::size_t>(vacant - places.begin());
}

std::vector<Scan::Step> Scan::enabled() const {
    std::vector<Step> steps;
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
        Rank const& me = ranks_[static_cast<std::size_t>(rank)];
        for (int slot = 0; slot < problem_.slots(rank); ++slot) {
            if (!leaves(rank, slot)) continue;
            Block const& block = *me.places[static_cast<std::size_t>(slot)];
            auto const& channel =
                ranks_[static_cast<std::size_t>(block.to.rank)].channels[static_cast<std::size_t>(rank)];
            if (channel.size() < capacity_) steps.push_back({Kind::append, rank, slot});
            if (one_cursor_) break;
        }
        for (int sender = 0; sender < static_cast<int>(ranks_.size()); ++sender) {
            auto const& channel = me.channels[static_cast<std::size_t>(sender)];
            if (!channel.empty() && landing_place(rank, channel.front())) steps.push_back({Kind::take, rank, sender});
        }
    }
    return steps;
}

void Scan::apply(Step step) {
    Rank& me = ranks_[static_cast<std::size_t>(step.rank)];
    if (step.kind == Kind::append) {
        auto& place = me.places[static_cast<std::size_t>(step.which)];
        ranks_[static_cast<std::size_t>(place->to.rank)].channels[static_cast<std::size_t>(step.rank)].push_back(
            *place);
        place.reset();
        return;
    }
    auto& channel = me.channels[static_cast<std::size_t>(step.which)];
    me.places[*landing_place(step.rank, channel.front())] = channel.front();
    channel.pop_front();
}

bool Scan::finished() const {
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
        Rank const& me = ranks_[static_cast<std::size_t>(rank)];
        for (int slot = 0; slot < problem_.slots(rank); ++slot)
            if (leaves(rank, slot)) return false;
        for (auto const& channel : me.channels)
            if (!channel.empty()) return false;
    }
    return true;
}

void Scan::settle() {
    for (Rank& me : ranks_) {
        auto const misplaced = [&](std::size_t place) {
            return me.places[place] && static_cast<std::size_t>(me.places[place]->to.slot) != place;
        };
        std::size_t moves = 0;
        for (std::size_t place = 0; place < me.places.size(); ++place) {
            // The block in the wrong place moves to its slot; a block in the way moves to any vacant place and waits
            // for its turn.
            while (misplaced(place)) {
                auto const home = static_cast<std::size_t>(me.places[place]->to.slot);
                if (me.places[home]) {
                    auto const vacant = std::find(me.places.begin(), me.places.end(), std::nullopt);
                    if (vacant == me.places.end()) throw std::logic_error("no vacancy to open a cycle with");
                    std::swap(*vacant, me.places[home]);
                    if (++moves > 3 * me.places.size()) throw std::logic_error("the local permutation does not end");
                    place = std::min(place, static_cast<std::size_t>(vacant - me.places.begin()));
                    continue;
                }
                std::swap(me.places[place], me.places[home]);
            }
        }
    }
}

bool Scan::is_right() const {
    for (int rank = 0; rank < problem_.ranks(); ++rank)
        for (int slot = 0; slot < problem_.slots(rank); ++slot) {
            auto const& wanted = problem_.source[static_cast<std::size_t>(rank)][static_cast<std::size_t>(slot)];
            auto const& there = ranks_[static_cast<std::size_t>(rank)].places[static_cast<std::size_t>(slot)];
            if (wanted.has_value() != there.has_value() || (wanted && there->from != *wanted)) return false;
        }
    return true;
}

std::string Scan::text() const {
    std::ostringstream text;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        text << "rank " << rank << ':';
        for (auto const& place : ranks_[rank].places)
            text << ' ' << (place ? "to " + text_of(place->to) : "vacant");
        text << "; waiting for it:";
        for (auto const& channel : ranks_[rank].channels)
            text << ' ' << channel.size();
        text << '\n';
    }
    return text.str();
}

}  // namespace sluice::tests::model
