// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/automatic.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>

#include "groups/agreement.hpp"
#include "mpi/mpi.hpp"
#include "node/node.hpp"
#include "redistribution/strategies/parking_then_cyclic.hpp"

namespace sluice::redistribution {

namespace {

constexpr double k_never = std::numeric_limits<double>::infinity();

/// Parking and cyclic must be predicted to take less than this share of the other's time, because predictions err.
constexpr double k_clearly_faster = 0.8;
/// With room for copies token must be predicted to take at most this share of alltoallv's time: alltoallv does what
/// programs do without this library, so a wrong choice of it costs little.
constexpr double k_surely_faster = 0.9;
/// The share that a block in order costs token of one in random order, which the curves are of. Packed copies gain
/// less.
constexpr double k_in_order = 0.55;

/// Prices in seconds, where no curve has measured ones. Costs that all strategies share matter little; the prices of a
/// block, a copy and a wait make the difference.
struct Prices {
    double latency;          // one message
    double message_byte;     // in a large message
    double token_byte;       // fetched by token
    double copy_byte;        // by memcpy, inside a rank
    double chained_block;    // to grant or pull one block
    double scanned_block;    // the same in token's form for small blocks
    double alltoallv_block;  // to list, pack and unpack one block
    double sorted_block;     // to sort, send with its destination and settle one block
    double scanned_slot;     // to look at one slot's destination
};
constexpr Prices k_in_one_node{2e-6, 0.35e-9, 0.3e-9, 0.2e-9, 0.7e-6, 0.1e-6, 0.06e-6, 0.2e-6, 2e-9};
constexpr Prices k_between_nodes{20e-6, 1e-9, 1.2e-9, 0.2e-9, 0.7e-6, 0.1e-6, 0.06e-6, 0.2e-6, 2e-9};

Prices const& prices_of(Facts const& facts) {
    return facts.one_node ? k_in_one_node : k_between_nodes;
}

double number(std::uint64_t count) {
    return static_cast<double>(count);
}

std::uint64_t over_rounded_up(std::uint64_t count, std::uint64_t by) {
    return count / by + (count % by != 0 ? 1 : 0);
}

/// Those of the rank that has most. Blocks that stay on the rank cost token, too; the curves are of ranks on which half
/// of the blocks do, or less.
double blocks_of_token(Facts const& facts) {
    return number(std::max(facts.most_moved, facts.most_live / 2));
}

/// What a block costs a rank that copies while others wait, as a share of what it costs while all copy: they share the
/// memory and, if there are more of them, the processors.
constexpr double k_alone = 0.75;
constexpr double k_alone_if_crowded = 0.33;

/// Those of all ranks, in equal shares, unless one rank has so many that the others wait for it.
double blocks_of_packed(Facts const& facts) {
    double const alone = facts.is_crowded ? k_alone_if_crowded : k_alone;
    return std::max(number(facts.all_live) / facts.ranks, alone * number(facts.most_live));
}

double predict_token(Facts const& facts) {
    Prices const& price = prices_of(facts);
    if (facts.has_curves) {
        double const in_order = number(facts.least_in_order) / 1000;
        return 10 * price.latency + blocks_of_token(facts) * (1 - (1 - k_in_order) * in_order) *
                                        seconds_of(facts.curves.token, facts.block_bytes);
    }
    double const block = facts.token == TokenForm::scan ? price.scanned_block : price.chained_block;
    return 10 * price.latency + number(facts.most_moved) * (block + number(facts.block_bytes) * price.token_byte);
}

double predict_alltoallv(Facts const& facts) {
    if (!facts.room_for_copies) return k_never;
    Prices const& price = prices_of(facts);
    double const latency = (10 + number(facts.most_partners)) * price.latency;
    if (facts.has_curves) return latency + blocks_of_packed(facts) * seconds_of(facts.curves.packed, facts.block_bytes);
    double const byte = price.message_byte + 2 * price.copy_byte;
    return latency + number(facts.most_moved) * (price.alltoallv_block + number(facts.block_bytes) * byte);
}

/// Parking and cyclic keep one or two blocks in addition to the array; if these exceed the staging, they break the
/// memory bound.
bool blocks_fit_staging(Facts const& facts) {
    return facts.block_bytes <= facts.staging / 2;
}

double phase_seconds(Facts const& facts) {
    Prices const& price = prices_of(facts);
    double const steps = 4 * std::bit_width(static_cast<unsigned>(facts.ranks)) + 2 * number(facts.most_partners);
    return steps * price.latency + number(facts.most_slots) * price.scanned_slot;
}

/// The time to send, sort once and settle one block.
double sorted_block_seconds(Facts const& facts) {
    Prices const& price = prices_of(facts);
    return price.sorted_block + number(facts.block_bytes) * (price.message_byte + 2 * price.copy_byte);
}

double predict_parking(Facts const& facts) {
    if (!blocks_fit_staging(facts)) return k_never;
    return number(predict_phases(facts)) * phase_seconds(facts) +
           number(facts.most_moved) * sorted_block_seconds(facts);
}

/// Every increment waits for its neighbours. With more than one partner the pairs wait for each other too: on a
/// complete graph they need 2n + 3 steps for n - 1 exchanges (MADRE, section 3), and each step but the first sorts.
double predict_cyclic(Facts const& facts) {
    if (!blocks_fit_staging(facts)) return k_never;
    Prices const& price = prices_of(facts);
    double const increments = number(facts.most_moved) / number(std::max<std::uint64_t>(1, facts.least_free));
    double const actions = number(facts.most_partners) * (facts.most_partners > 1 ? 2.0 : 1.0);
    double const serial = facts.most_partners > 1 ? 2.0 : 1.0;
    double const sorting = price.copy_byte * number(facts.block_bytes) * number(facts.most_slots) * 0.5 * (actions - 1);
    return increments * 2 * price.latency +
           actions * (4 * price.latency + number(facts.most_slots) * price.scanned_slot) + std::max(0.0, sorting) +
           serial * number(facts.most_moved) * sorted_block_seconds(facts);
}

/// Blocks that find free slots at once go in phases, the rest by a schedule.
double predict_parking_then_cyclic(Facts const& facts) {
    if (!blocks_fit_staging(facts) || facts.first_phase == 0 || facts.first_phase >= facts.all_moved) return k_never;
    double const share = number(facts.first_phase) / number(facts.all_moved);
    double const moved_first = share * number(facts.most_moved);
    Facts rest = facts;
    rest.most_moved = facts.most_moved - static_cast<std::uint64_t>(moved_first);
    return phase_seconds(facts) + moved_first * sorted_block_seconds(facts) + predict_cyclic(rest);
}

constexpr std::array k_way_names{"token", "parking", "cyclic", "alltoallv", "parking then cyclic"};

std::string milliseconds(double seconds) {
    if (seconds == k_never) return "must not be taken";
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g ms", seconds * 1e3);
    return text.data();
}

}  // namespace

std::uint64_t MovesInMap::share_in_order(std::uint64_t moving) const noexcept {
    return moving == 0 ? 1000 : static_cast<std::uint64_t>(1000 * number(in_order) / number(moving));
}

std::uint64_t predict_phases(Facts const& facts) {
    if (facts.all_moved == 0) return 0;
    if (facts.all_free == 0) return facts.all_moved;  // one spare slot is made, and each phase moves one block
    return std::max<std::uint64_t>(1,
                                   std::min(facts.most_phases, over_rounded_up(2 * facts.all_moved, facts.all_free)));
}

Predictions predict(Facts const& facts) {
    return {predict_token(facts), predict_parking(facts), predict_cyclic(facts), predict_alltoallv(facts),
            predict_parking_then_cyclic(facts)};
}

namespace {

/// Of token and alltoallv, which is infinite without room for copies.
Way faster_form(Predictions const& predicted) {
    return predicted.token <= k_surely_faster * predicted.alltoallv ? Way::token : Way::alltoallv;
}

std::string costs_of(Facts const& facts) {
    if (!facts.has_curves) return "costs of messages built in";
    return facts.curves.is_measured ? "costs measured by sluice doctor --calibrate" : "costs built in";
}

/// "at most 15000 blocks of 64 bytes and 3 partners on a rank"
std::string size_of(Facts const& facts) {
    return "at most " + std::to_string(facts.most_moved) + " blocks of " + std::to_string(facts.block_bytes) +
           " bytes and " + std::to_string(facts.most_partners) + " partners on a rank";
}

constexpr char const* k_nothing_moves = "auto: token, because no block changes its rank";

}  // namespace

Choice choose_form(Facts const& facts) {
    if (facts.all_moved == 0) return {Way::token, k_nothing_moves};
    Predictions const predicted = predict(facts);
    Way const way = faster_form(predicted);
    bool const packs = way == Way::alltoallv;
    return {way, std::string("auto: ") + (packs ? "alltoallv in copies that the context keeps" : "token") +
                     ", predicted " + milliseconds(packs ? predicted.alltoallv : predicted.token) + " (" +
                     (packs ? "token " : "alltoallv ") + milliseconds(packs ? predicted.token : predicted.alltoallv) +
                     "): " + size_of(facts) + ", room for copies, " + costs_of(facts)};
}

std::optional<Choice> choose_token_at_once(Facts facts, std::uint64_t most_live) {
    facts.most_moved = facts.most_live = most_live;
    facts.all_moved = facts.all_live = most_live * static_cast<std::uint64_t>(facts.ranks);
    facts.most_partners = std::min(most_live, static_cast<std::uint64_t>(facts.ranks - 1));
    facts.room_for_copies = true;
    Choice choice = choose_form(facts);
    return choice.way == Way::token ? std::optional(std::move(choice)) : std::nullopt;
}

Choice choose_strategy(Facts const& facts) {
    if (facts.all_moved == 0) return {Way::token, k_nothing_moves};
    // Measured costs are not compared with those of parking and cyclic, which are built in.
    if (facts.has_curves && facts.room_for_copies) return choose_form(facts);
    Predictions const predicted = predict(facts);
    std::array const seconds{predicted.token, predicted.parking, predicted.cyclic, predicted.alltoallv,
                             predicted.parking_then_cyclic};
    auto const form = static_cast<std::size_t>(faster_form(predicted));
    auto const fastest = static_cast<std::size_t>(std::min_element(seconds.begin(), seconds.end()) - seconds.begin());
    std::size_t const taken = seconds[fastest] < k_clearly_faster * seconds[form] ? fastest : form;
    std::string why = std::string("auto: ") + k_way_names[taken] + ", predicted " + milliseconds(seconds[taken]) + " (";
    for (std::size_t way = 0; way < seconds.size(); ++way) {
        if (way == taken) continue;
        why += std::string(k_way_names[way]) + " " + milliseconds(seconds[way]) + ", ";
    }
    why += "parking in " + std::to_string(predict_phases(facts)) + " phases): " + size_of(facts) + ", at least " +
           std::to_string(facts.least_free) + " free slots, " + (facts.room_for_copies ? "room" : "no room") +
           " for copies, " + costs_of(facts);
    return {static_cast<Way>(taken), why};
}

namespace {

/// Counts the ranks that this one sends to, with one bit for each rank.
std::uint64_t count_partners(Problem const& problem) {
    memory::MeteredVector<std::uint64_t> seen(static_cast<std::size_t>(problem.context.size()) / 64 + 1, 0,
                                              memory::MeteredAllocator<std::uint64_t>(problem.meter));
    std::uint64_t partners = 0;
    for (std::uint64_t slot = 0; slot < problem.slots; ++slot) {
        Destination const to = (*problem.forward)[slot];
        if (to.rank < 0 || to.rank == problem.context.rank()) continue;
        std::uint64_t& word = seen[static_cast<std::size_t>(to.rank) / 64];
        std::uint64_t const bit = std::uint64_t{1} << (to.rank % 64);
        partners += (word & bit) == 0 ? 1 : 0;
        word |= bit;
    }
    return partners;
}

/// Returns the same count, or a bound if there is no memory to count, so that no rank fails alone.
std::uint64_t partners_of(Problem const& problem) {
    try {
        return count_partners(problem);
    } catch (std::bad_alloc const&) {
        return std::min(problem.outgoing, static_cast<std::uint64_t>(problem.context.size() - 1));
    }
}

MovesInMap moves_in(Problem const& problem) noexcept {
    MovesInMap moves;
    for (std::uint64_t slot = 0; slot < problem.slots; ++slot)
        if (Destination const to = (*problem.forward)[slot]; to.rank >= 0) moves.add(problem.context.rank(), slot, to);
    return moves;
}

/// Whether the copies of `alltoallv` fit.
bool has_room_for_copies(Problem const& problem) {
    std::uint64_t const sharers =
        static_cast<std::uint64_t>(problem.node != nullptr ? problem.node->size() : problem.context.size());
    std::uint64_t const blocks = problem.incoming + problem.outgoing;
    std::uint64_t const per_block = problem.block_bytes + 32;
    std::uint64_t const most = std::numeric_limits<std::uint64_t>::max() / 2;
    if (blocks > most / per_block || problem.slots > most / 8) return false;
    return has_room(problem.context, sharers, Bytes{blocks * per_block + 8 * problem.slots});
}

}  // namespace

bool has_room(engine::ContextState& context, std::uint64_t sharers, Bytes bytes) {
    Bytes const kept = context.copies().kept();
    if (bytes <= kept) return true;
    std::uint64_t const room = context.process().memory().room().count;
    std::uint64_t const most_kept = (std::numeric_limits<std::uint64_t>::max() - room) / sharers;
    return bytes.count / 3 <= (room + std::min(kept.count, most_kept) * sharers) / 4 / sharers;
}

Facts early_facts(MapFacts const& map, std::uint64_t block_bytes, Bytes staging) {
    Facts facts;
    facts.ranks = map.ranks;
    facts.one_node = map.node != nullptr && map.node->size() == map.ranks;
    facts.is_crowded = map.node != nullptr && map.node->is_crowded();
    facts.has_curves = scan_is_possible(map);
    facts.token = token_form(map, block_bytes);
    facts.block_bytes = block_bytes;
    facts.staging = staging.count;
    facts.most_slots = map.most_slots;
    return facts;
}

Facts gather_facts(Problem const& problem, bool may_copy) {
    std::uint64_t const free = problem.slots - problem.outgoing - problem.staying;
    bool const takes_part = problem.incoming > 0 || problem.outgoing > 0;
    std::uint64_t const phases = over_rounded_up(problem.incoming, std::max<std::uint64_t>(1, free));
    groups::Agreement agreement;
    std::uint64_t const& most_moved = agreement.most(std::max(problem.incoming, problem.outgoing));
    std::uint64_t const& most_partners = agreement.most(partners_of(problem));
    std::uint64_t const& least_free = agreement.least(takes_part ? free : std::numeric_limits<std::uint64_t>::max());
    std::uint64_t const& most_phases = agreement.most(phases);
    std::uint64_t const& room_everywhere = agreement.least(may_copy && has_room_for_copies(problem) ? 1 : 0);
    MovesInMap const moves = moves_in(problem);
    std::uint64_t const moving_inside = problem.staying - moves.in_place;
    std::uint64_t const& most_live = agreement.most(std::max(problem.incoming, problem.outgoing) + moving_inside);
    std::uint64_t const& least_in_order = agreement.least(moves.share_in_order(problem.outgoing + moving_inside));
    bool const has_curves = scan_is_possible(map_facts(problem));
    bool const tells = has_curves && problem.context.rank() == 0;
    AgreedCurves const curves(agreement, tells ? curves_of_this_machine(problem.node->is_crowded()) : Curves{});
    std::uint64_t const& most_by_message = agreement.most(problem.outgoing_by_message);
    MPI_Comm const comm = problem.context.comm();
    agreement.run(comm);
    std::array<std::uint64_t, 4> sums{problem.incoming, free, std::min(problem.incoming, free),
                                      problem.outgoing + moving_inside};
    mpi::check(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_UINT64_T, MPI_SUM, comm),
               "MPI_Allreduce");
    return {.ranks = problem.context.size(),
            .one_node = most_by_message == 0,
            .is_crowded = problem.node != nullptr && problem.node->is_crowded(),
            .has_curves = has_curves,
            .curves = curves.get(),
            .token = token_form(map_facts(problem), problem.block_bytes),
            .block_bytes = problem.block_bytes,
            .staging = problem.staging.count,
            .most_slots = problem.most_slots,
            .most_moved = most_moved,
            .most_live = most_live,
            .all_moved = sums[0],
            .all_live = sums[3],
            .least_in_order = least_in_order,
            .most_partners = most_partners,
            .least_free = sums[0] > 0 ? least_free : 0,
            .all_free = sums[1],
            .first_phase = sums[2],
            .most_phases = most_phases,
            .room_for_copies = room_everywhere == 1};
}

Chosen choose_automatically(Problem const& problem, bool may_copy) {
    Choice choice = choose_strategy(gather_facts(problem, may_copy));
    int way = static_cast<int>(choice.way);  // rank 0 decides, in case floating point differs between machines
    mpi::check(MPI_Bcast(&way, 1, MPI_INT, 0, problem.context.comm()), "MPI_Bcast");
    switch (static_cast<Way>(way)) {
        case Way::token:
            return {&strategy_entry(Strategy::token), std::move(choice.why)};
        case Way::parking:
            return {&strategy_entry(Strategy::parking), std::move(choice.why)};
        case Way::cyclic:
            return {&strategy_entry(Strategy::cyclic), std::move(choice.why)};
        case Way::alltoallv:
            return {&strategy_entry(Strategy::alltoallv), std::move(choice.why)};
        case Way::parking_then_cyclic:
            return {&parking_then_cyclic_entry(), std::move(choice.why)};
    }
    throw Error(ErrorCode::internal, "auto: there is no strategy with the number " + std::to_string(way));
}

}  // namespace sluice::redistribution
