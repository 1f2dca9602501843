// SPDX-License-Identifier: BSD-3-Clause
#include "model/small/flag.hpp"

#include <algorithm>
#include <sstream>

namespace sluice::tests::model {

Flag::Flag(Problem const& problem, int region_slots, int channel_capacity, bool is_repaired)
    : problem_(problem),
      region_slots_(region_slots),
      capacity_(static_cast<std::size_t>(channel_capacity)),
      is_repaired_(is_repaired) {
    for (int rank = 0; rank < problem.ranks(); ++rank) {
        auto const& row = problem.destination[static_cast<std::size_t>(rank)];
        Rank& made = ranks_.emplace_back();
        made.slots.resize(row.size());
        made.spares.resize(static_cast<std::size_t>(problem.spares[static_cast<std::size_t>(rank)]));
        made.channels.resize(problem.destination.size());
        for (std::size_t slot = 0; slot < row.size(); ++slot) {
            if (row[slot]) made.slots[slot].block = Block{{rank, static_cast<int>(slot)}, *row[slot]};
            made.slots[slot].is_read = !row[slot];
        }
    }
}

/// The block at the head of its region; with the repair any that has not been read.
bool Flag::may_read(int rank, int slot) const {
    auto const& slots = ranks_[static_cast<std::size_t>(rank)].slots;
    if (slots[static_cast<std::size_t>(slot)].is_read) return false;
    for (int before = region_of(slot) * region_slots_; !is_repaired_ && before < slot; ++before)
        if (!slots[static_cast<std::size_t>(before)].is_read) return false;
    return true;
}

std::optional<std::size_t> Flag::vacancy(int rank, int region) const {
    auto const& slots = ranks_[static_cast<std::size_t>(rank)].slots;
    auto const all = static_cast<std::size_t>(region_slots_);
    std::size_t const first = static_cast<std::size_t>(region) * all;
    for (std::size_t slot = first; slot < std::min(slots.size(), first + all); ++slot)
        if (!slots[slot].block) return slot;
    return std::nullopt;
}

std::optional<std::size_t> Flag::landing_slot(int rank, Block const& block) const {
    if (auto const there = vacancy(rank, region_of(block.to.slot))) return there;
    for (int region = 0; is_repaired_ && region * region_slots_ < problem_.slots(rank); ++region)
        if (auto const there = vacancy(rank, region)) return there;
    return std::nullopt;
}

std::optional<std::size_t> Flag::free_spare(int rank) const {
    auto const& spares = ranks_[static_cast<std::size_t>(rank)].spares;
    auto const found = std::find(spares.begin(), spares.end(), std::nullopt);
    if (found == spares.end()) return std::nullopt;
    return static_cast<std::size_t>(found - spares.begin());
}

std::vector<Flag::Step> Flag::enabled() const {
    std::vector<Step> steps;
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
        Rank const& me = ranks_[static_cast<std::size_t>(rank)];
        for (int slot = 0; slot < problem_.slots(rank); ++slot) {
            if (!may_read(rank, slot)) continue;
            Block const& block = *me.slots[static_cast<std::size_t>(slot)].block;
            if (block.to.rank == rank) {
                steps.push_back({Kind::keep, rank, slot});
            } else {
                auto const& there = ranks_[static_cast<std::size_t>(block.to.rank)];
                if (there.channels[static_cast<std::size_t>(rank)].size() < capacity_)
                    steps.push_back({Kind::send, rank, slot});
            }
        }
        for (int sender = 0; sender < static_cast<int>(ranks_.size()); ++sender) {
            auto const& channel = me.channels[static_cast<std::size_t>(sender)];
            if (!channel.empty() && (landing_slot(rank, channel.front()) || free_spare(rank)))
                steps.push_back({Kind::take, rank, sender});
        }
        for (int spare = 0; spare < static_cast<int>(me.spares.size()); ++spare) {
            auto const& block = me.spares[static_cast<std::size_t>(spare)];
            if (block && landing_slot(rank, *block)) steps.push_back({Kind::unload, rank, spare});
        }
    }
    return steps;
}

void Flag::land(int rank, Block const& block) {
    Rank& me = ranks_[static_cast<std::size_t>(rank)];
    if (auto const slot = landing_slot(rank, block))
        me.slots[*slot].block = block;
    else
        me.spares[*free_spare(rank)] = block;
}

void Flag::apply(Step step) {
    Rank& me = ranks_[static_cast<std::size_t>(step.rank)];
    switch (step.kind) {
        case Kind::send: {
            Slot& slot = slot_of(step);
            Rank& there = ranks_[static_cast<std::size_t>(slot.block->to.rank)];
            there.channels[static_cast<std::size_t>(step.rank)].push_back(*slot.block);
            slot = {std::nullopt, true};
            return;
        }
        case Kind::keep: {
            // It lands in its region, or stays where it is until the last step.
            Slot& slot = slot_of(step);
            Block const block = *slot.block;
            slot = {std::nullopt, true};
            auto const there = vacancy(step.rank, region_of(block.to.slot));
            (there ? me.slots[*there] : slot).block = block;
            return;
        }
        case Kind::take: {
            auto& channel = me.channels[static_cast<std::size_t>(step.which)];
            land(step.rank, channel.front());
            channel.pop_front();
            return;
        }
        case Kind::unload: {
            auto& spare = me.spares[static_cast<std::size_t>(step.which)];
            Block const block = *spare;
            spare.reset();
            land(step.rank, block);
        }
    }
}

bool Flag::finished() const {
    for (Rank const& me : ranks_) {
        if (std::ranges::any_of(me.slots, [](Slot const& slot) { return !slot.is_read; })) return false;
        if (std::ranges::any_of(me.channels, [](auto const& channel) { return !channel.empty(); })) return false;
    }
    return true;
}

int Flag::strays() const {
    int count = 0;
    for (Rank const& me : ranks_)
        for (std::size_t slot = 0; slot < me.slots.size(); ++slot)
            if (auto const& block = me.slots[slot].block)
                count += region_of(block->to.slot) != region_of(static_cast<int>(slot)) ? 1 : 0;
    return count;
}

/// Every block is on its rank, once.
bool Flag::is_right() const {
    for (int rank = 0; rank < problem_.ranks(); ++rank) {
        Rank const& me = ranks_[static_cast<std::size_t>(rank)];
        std::vector<std::optional<Address>> there(me.slots.size());
        std::size_t blocks = 0;
        auto const see = [&](std::optional<Block> const& block) {
            if (!block) return;
            there[static_cast<std::size_t>(block->to.slot)] = block->from;
            ++blocks;
        };
        for (Slot const& slot : me.slots)
            see(slot.block);
        for (auto const& spare : me.spares)
            see(spare);
        auto const& source = problem_.source[static_cast<std::size_t>(rank)];
        auto const wanted = std::ranges::count_if(source, [](auto const& from) { return from.has_value(); });
        if (there != source || blocks != static_cast<std::size_t>(wanted)) return false;
    }
    return true;
}

std::string Flag::text() const {
    std::ostringstream text;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        text << "rank " << rank << ", regions of " << region_slots_ << ':';
        for (Slot const& slot : ranks_[rank].slots)
            text << ' ' << (slot.block ? "to " + text_of(slot.block->to) : "vacant") << (slot.is_read ? "" : "?");
        text << "; spares:";
        for (auto const& spare : ranks_[rank].spares)
            text << ' ' << (spare ? "to " + text_of(spare->to) : "vacant");
        text << "; waiting for it:";
        for (auto const& channel : ranks_[rank].channels)
            text << ' ' << channel.size();
        text << '\n';
    }
    return text.str();
}

}  // namespace sluice::tests::model
