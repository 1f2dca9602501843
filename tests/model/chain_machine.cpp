// SPDX-License-Identifier: BSD-3-Clause
#include "model/chain_machine.hpp"

#include <algorithm>
#include <cstring>

namespace sluice::tests::model {

ChainMachine::Block ChainMachine::block_named(int rank, std::uint64_t slot) {
    Block block{};
    std::uint64_t const name = static_cast<std::uint64_t>(rank) * 1000 + slot + 1;
    std::uint64_t const other = ~name;
    std::memcpy(block.data(), &name, sizeof name);
    std::memcpy(block.data() + sizeof name, &other, sizeof other);
    return block;
}

ChainMachine::ChainMachine(Problem const& problem, Random& random, Way way) : problem_(problem), way_(way) {
    int const most_slots = 6;
    for (int r = 0; r < problem.ranks(); ++r) {
        auto const number = static_cast<std::size_t>(r);
        auto const slots = static_cast<std::uint64_t>(problem.slots(r));
        Rank& rank = *ranks_.emplace_back(std::make_unique<Rank>());
        rank.inverse = std::make_unique<redistribution::AddressMap>(slots, problem.ranks(), most_slots, rank.meter);
        for (std::uint64_t slot = 0; slot < slots; ++slot) {
            rank.array.push_back(block_named(r, slot));
            if (auto const& to = problem.destination[number][slot]) {
                rank.inverse->set_mark(slot);
                if (to->rank != r) ++rank.leaving;
            }
            if (auto const& from = problem.source[number][slot]) rank.inverse->set(slot, {from->rank, from->slot});
        }
        redistribution::ChainMemory memory{k_piece, static_cast<std::size_t>(problem.spares[number]),
                                           static_cast<std::size_t>(draw(random, 1, 4)),
                                           static_cast<std::size_t>(draw(random, 1, 4))};
        if (way == Way::pool) {
            rank.spares.resize(memory.spares * k_piece);
            rank.free_places = static_cast<std::size_t>(draw(random, 1, 3));
            memory.places = rank.spares.data();
        }
        auto const visits =
            draw_chance(random, 0.5) ? redistribution::Chain::Visits::spread : redistribution::Chain::Visits::in_order;
        rank.chain =
            std::make_unique<redistribution::Chain>(*rank.inverse, r, memory, rank.meter, rank.counters, visits);
    }
}

bool ChainMachine::finished() const {
    return flights_.empty() &&
           std::all_of(ranks_.begin(), ranks_.end(), [](auto const& rank) { return rank->chain->finished(); });
}

/// One rank hands some of the fetches of one lane to its transport.
bool ChainMachine::start_some(Random& random) {
    struct Choice {
        int rank;
        std::size_t lane;
    };
    std::vector<Choice> choices;
    for (int r = 0; r < problem_.ranks(); ++r) {
        auto const& chain = *ranks_[static_cast<std::size_t>(r)]->chain;
        if (way_ == Way::pool && ranks_[static_cast<std::size_t>(r)]->free_places == 0) continue;
        for (std::size_t lane = 0; lane < chain.lanes(); ++lane)
            if (chain.lane(lane).count > 0) choices.push_back({r, lane});
    }
    if (choices.empty()) return false;
    Choice const chosen = choices[static_cast<std::size_t>(draw(random, 0, static_cast<int>(choices.size()) - 1))];
    Rank& rank = *ranks_[static_cast<std::size_t>(chosen.rank)];
    auto& chain = *rank.chain;
    auto const lane = chain.lane(chosen.lane);
    std::size_t const most = way_ == Way::pool ? std::min(lane.count, rank.free_places) : lane.count;
    auto const count = static_cast<std::size_t>(draw(random, 1, static_cast<int>(most)));
    for (engine::Fetch const& fetch : chain.take(chosen.lane, count)) {
        Flight& flight =
            flights_.emplace_back(Flight{chosen.rank, lane.source, fetch, chain.place_for(fetch.for_slot)});
        flight.has_place = way_ == Way::pool && !is_spare(rank, flight.place);
        if (flight.has_place) --rank.free_places;
        ++fetches_;
    }
    return true;
}

/// One rank looks for fetches to make; returns true if any rank found one.
bool ChainMachine::decide_some(Random& random) {
    int const first = draw(random, 0, problem_.ranks() - 1);
    for (int i = 0; i < problem_.ranks(); ++i)
        if (ranks_[static_cast<std::size_t>((first + i) % problem_.ranks())]->chain->queue_fetches()) return true;
    return false;
}

/// Makes the next step of a fetch; if there are several, a random one.
void ChainMachine::advance(Flight& flight, Random& random) {
    Rank& receiver = *ranks_[static_cast<std::size_t>(flight.receiver)];
    Rank& owner = *ranks_[static_cast<std::size_t>(flight.owner)];
    if (!flight.read) {
        std::memcpy(flight.content.data(), owner.array[flight.fetch.from].data() + offset_, k_piece);
        flight.read = true;
        if (draw_chance(random, 0.5)) std::memcpy(flight.place, flight.content.data(), k_piece);
    } else if (!flight.landed && (flight.told || draw_chance(random, 0.5))) {
        std::memcpy(flight.place, flight.content.data(), k_piece);
        flight.landed = true;
        receiver.chain->landed(flight.fetch.for_slot);
    } else {
        flight.told = true;
        owner.chain->vacated(flight.fetch.from);
    }
}

/// The owner copies the block into the place or the spare; later the receiver lands it.
void ChainMachine::advance_in_pool(Flight& flight) {
    Rank& receiver = *ranks_[static_cast<std::size_t>(flight.receiver)];
    Rank& owner = *ranks_[static_cast<std::size_t>(flight.owner)];
    if (!flight.told) {
        std::byte* const place = flight.has_place ? flight.content.data() : flight.place;
        std::memcpy(place, owner.array[flight.fetch.from].data() + offset_, k_piece);
        flight.told = true;
        owner.chain->vacated(flight.fetch.from);
        return;
    }
    if (flight.has_place) {
        std::memcpy(flight.place, flight.content.data(), k_piece);
        ++receiver.free_places;
    }
    flight.landed = true;
    receiver.chain->landed(flight.fetch.for_slot);
}

bool ChainMachine::run_pass(std::uint64_t offset, Random& random) {
    offset_ = offset;
    for (auto& rank : ranks_)
        rank->chain->begin_pass({rank->array.empty() ? nullptr : rank->array.front().data(), k_block, offset, k_piece},
                                rank->leaving);
    // The probability with which ranks decide and start, compared with the arrival of messages under way.
    double const eagerness = std::uniform_real_distribution<double>(0.05, 0.95)(random);
    while (!finished()) {
        bool moved = false;
        if (flights_.empty() || draw_chance(random, eagerness))
            moved = draw_chance(random, 0.5) ? decide_some(random) || start_some(random)
                                             : start_some(random) || decide_some(random);
        if (moved) continue;
        if (flights_.empty()) return false;  // there is nothing to decide, to start or to wait for
        auto const at = flights_.begin() + draw(random, 0, static_cast<int>(flights_.size()) - 1);
        if (way_ == Way::pool)
            advance_in_pool(*at);
        else
            advance(*at, random);
        if (at->landed && at->told) flights_.erase(at);
    }
    return true;
}

bool ChainMachine::run(Random& random) {
    return run_pass(0, random) && run_pass(k_piece, random);
}

bool ChainMachine::is_right() const {
    for (int r = 0; r < problem_.ranks(); ++r)
        for (int slot = 0; slot < problem_.slots(r); ++slot) {
            auto const& from = problem_.source[static_cast<std::size_t>(r)][static_cast<std::size_t>(slot)];
            auto const& there = ranks_[static_cast<std::size_t>(r)]->array[static_cast<std::size_t>(slot)];
            if (from && there != block_named(from->rank, static_cast<std::uint64_t>(from->slot))) return false;
        }
    return true;
}

}  // namespace sluice::tests::model
