// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/by_rank/rank_slots.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "redistribution/arguments.hpp"

namespace sluice::redistribution {

std::uint64_t RankSlots::choose(std::optional<std::uint64_t> room) {
    std::optional<Error> fault;
    try {
        for (int const rank : ranks_)
            if (rank >= 0) ++partners_.of(rank).blocks;
    } catch (std::bad_alloc const&) {
        fault.emplace(ErrorCode::out_of_memory,
                      "rank " + std::to_string(context_.rank()) + " has no memory for a table of its partners");
    }
    int const me = context_.rank();
    Counts counts(context_);
    tell_partners(context_, counts, fault, [&](auto const& send) {
        partners_.each([&](Partner const& partner) {
            if (partner.rank != me) send(partner.rank, Told{partner.blocks});
        });
    });
    std::uint64_t const after = lay_out(counts.items());
    context_.agree_on_no_error(fault_of_room(after, room));
    Counts begins(context_);
    tell_partners(context_, begins, std::nullopt, [&](auto const& send) {
        for (Counts::Item const& item : counts.items())
            send(item.source, item.told);
    });
    for (Counts::Item const& item : begins.items())
        partners_.existing(item.source).first = item.told.number;
    return after;
}

std::span<Destination const> RankSlots::operator()(std::uint64_t first, std::span<Destination> room) {
    if (first != at_) go_to(first);
    for (Destination& to : room)
        to = next();
    return room;
}

std::optional<Error> RankSlots::fault_of_room(std::uint64_t after, std::optional<std::uint64_t> room) const {
    if (!room || after <= *room) return std::nullopt;
    return invalid("rank " + std::to_string(context_.rank()) + " gets " + std::to_string(after) +
                   " blocks and has room for " + std::to_string(*room));
}

/// Each count becomes the slot where its blocks begin. Returns the sum.
std::uint64_t RankSlots::lay_out(memory::LeasedVector<Counts::Item>& incoming) {
    int const me = context_.rank();
    Partner* const mine = partners_.find(me);
    staying_ = mine != nullptr ? mine->blocks : 0;
    std::uint64_t at = order_ == sluice::BlockOrder::any ? staying_ : 0;
    if (order_ == sluice::BlockOrder::by_source)
        std::sort(incoming.begin(), incoming.end(), [](auto const& a, auto const& b) { return a.source < b.source; });
    bool placed = order_ == sluice::BlockOrder::any;
    auto const place_mine = [&] {
        if (mine != nullptr) mine->first = at;
        at += staying_;
        placed = true;
    };
    for (Counts::Item& item : incoming) {
        if (!placed && item.source > me) place_mine();
        at += std::exchange(item.told.number, at);
    }
    if (!placed) place_mine();
    return at;
}

void RankSlots::go_to(std::uint64_t first) {
    if (first < at_) {
        partners_.each([](Partner& partner) { partner.told = 0; });
        at_ = hole_ = 0;
    }
    while (at_ < first)
        next();
}

Destination RankSlots::next() {
    std::uint64_t const block = at_++;
    int const rank = ranks_[block];
    if (rank < 0) return free_block;
    if (order_ == sluice::BlockOrder::any && rank == context_.rank())
        return {rank, static_cast<std::int64_t>(stays(block))};
    Partner& partner = partners_.existing(rank);
    return {rank, static_cast<std::int64_t>(partner.first + partner.told++)};
}

/// A block behind those that stay fills the next slot before them that one leaves.
std::uint64_t RankSlots::stays(std::uint64_t block) {
    if (block < staying_) return block;
    while (ranks_[hole_] == context_.rank())
        ++hole_;
    return hole_++;
}

std::optional<Error> fault_of_ranks(std::span<int const> ranks, int rank, int size) {
    auto const wrong = std::find_if(ranks.begin(), ranks.end(), [&](int to) { return to >= size; });
    if (wrong == ranks.end()) return std::nullopt;
    return invalid("block " + std::to_string(wrong - ranks.begin()) + " of rank " + std::to_string(rank) +
                   " is sent to rank " + std::to_string(*wrong) + "; there are " + std::to_string(size) + " ranks");
}

std::optional<Error> fault_of_options_by_rank(RedistributeOptions const& options) {
    if (!options.inverse) return std::nullopt;
    return invalid(
        "an inverse was given for blocks of which only the ranks are known: the library chooses their slots");
}

}  // namespace sluice::redistribution
