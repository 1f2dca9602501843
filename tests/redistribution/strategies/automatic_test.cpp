// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/automatic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "redistribution/strategies/parking_then_cyclic.hpp"
#include "support/effort.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::redistribution {
namespace {

/// 4 ranks on one node, 20,000 of 25,000 slots live, all blocks move to three partners.
Facts transpose(std::uint64_t block_bytes) {
    Facts facts;
    facts.ranks = 4;
    facts.block_bytes = block_bytes;
    facts.staging = 2 << 20;
    facts.most_slots = 25'000;
    facts.most_moved = 15'000;
    facts.all_moved = 60'000;
    facts.most_partners = 3;
    facts.least_free = 5'000;
    facts.all_free = 20'000;
    facts.first_phase = 20'000;
    facts.most_phases = 3;
    facts.room_for_copies = true;
    return facts;
}

TEST(AutomaticChoice, takes_token_for_large_blocks) {
    EXPECT_EQ(choose_strategy(transpose(16'000)).way, Way::token);
    EXPECT_EQ(choose_strategy(transpose(1 << 20)).way, Way::token);
}

TEST(AutomaticChoice, takes_alltoallv_for_tiny_blocks_where_memory_has_room_for_the_copies) {
    EXPECT_EQ(choose_strategy(transpose(64)).way, Way::alltoallv);
}

TEST(AutomaticChoice, never_takes_alltoallv_without_room_for_the_copies) {
    for (std::uint64_t block_bytes = 1; block_bytes < 1 << 22; block_bytes *= 2) {
        Facts facts = transpose(block_bytes);
        facts.room_for_copies = false;
        EXPECT_NE(choose_strategy(facts).way, Way::alltoallv) << block_bytes;
    }
}

TEST(AutomaticChoice, takes_parking_for_tiny_blocks_with_ample_free_space_and_no_room_for_copies) {
    Facts facts = transpose(64);
    facts.room_for_copies = false;
    EXPECT_EQ(choose_strategy(facts).way, Way::parking);
}

TEST(AutomaticChoice, does_not_take_parking_when_its_phases_explode) {
    Facts facts = transpose(64);
    facts.room_for_copies = false;
    facts.least_free = 0;
    facts.all_free = 3;
    facts.first_phase = 3;
    facts.most_phases = 15'000;
    EXPECT_EQ(choose_strategy(facts).way, Way::token);
}

TEST(AutomaticChoice, changes_from_parking_to_cyclic_where_few_ranks_are_tight) {
    Facts facts = transpose(64);
    facts.room_for_copies = false;
    facts.least_free = 10;  // of one rank; the others receive all their blocks at once
    facts.all_moved = 60'000;
    facts.first_phase = 59'000;
    facts.all_free = 59'000;
    facts.most_phases = 1'500;
    facts.most_partners = 1;
    facts.ranks = 1'000;
    Predictions const predicted = predict(facts);
    EXPECT_LT(predicted.parking_then_cyclic, predicted.cyclic);
}

TEST(AutomaticChoice, keeps_to_the_staging_whatever_the_block_size) {
    Facts facts = transpose(2 << 20);
    facts.staging = 2 << 20;
    facts.room_for_copies = false;
    EXPECT_EQ(choose_strategy(facts).way, Way::token);  // parking and cyclic hold whole blocks
}

TEST(AutomaticChoice, says_why_with_numbers) {
    std::string const why = choose_strategy(transpose(64)).why;
    EXPECT_NE(why.find("alltoallv, predicted"), std::string::npos) << why;
    EXPECT_NE(why.find("15000 blocks of 64 bytes"), std::string::npos) << why;
    EXPECT_NE(why.find("at least 5000 free slots"), std::string::npos) << why;
}

/// The same with rings, on a machine where a block costs token what `token` says and packed copies what `packed` says.
Facts measured(double token, double packed) {
    Facts facts = transpose(1024);
    facts.has_curves = true;
    facts.most_live = 20'000;
    facts.all_live = 80'000;
    facts.curves.token.fill(static_cast<float>(token));
    facts.curves.packed.fill(static_cast<float>(packed));
    return facts;
}

TEST(AutomaticForm, follows_the_measured_costs) {
    EXPECT_EQ(choose_form(measured(1e-6, 2e-6)).way, Way::token);
    EXPECT_EQ(choose_form(measured(2e-6, 1e-6)).way, Way::alltoallv);
    EXPECT_EQ(choose_strategy(measured(2e-6, 1e-6)).way, Way::alltoallv);
}

TEST(AutomaticForm, counts_blocks_that_stay_for_packed_copies) {
    Facts facts = measured(1e-6, 1e-6);  // 15,000 blocks change their rank, 20,000 are packed
    EXPECT_EQ(choose_form(facts).way, Way::token);
    facts.most_live = 15'000;
    facts.all_live = 60'000;
    EXPECT_EQ(choose_form(facts).way, Way::alltoallv);
}

TEST(AutomaticForm, is_token_only_if_that_is_faster_beyond_doubt) {
    EXPECT_EQ(choose_form(measured(0.95e-6 * 20 / 15, 1e-6)).way, Way::alltoallv);
    EXPECT_EQ(choose_form(measured(0.85e-6 * 20 / 15, 1e-6)).way, Way::token);
}

TEST(AutomaticForm, takes_token_for_blocks_in_order_where_it_would_pack_others) {
    Facts facts = measured(1.5e-6, 1e-6);
    facts.most_live = facts.most_moved;
    facts.all_live = facts.all_moved;
    EXPECT_EQ(choose_form(facts).way, Way::alltoallv);
    facts.least_in_order = 1000;
    EXPECT_EQ(choose_form(facts).way, Way::token);
    facts.least_in_order = 500;
    EXPECT_EQ(choose_form(facts).way, Way::alltoallv);
}

TEST(AutomaticForm, counts_half_of_the_blocks_that_stay_for_token) {
    Facts facts = measured(1e-6, 0.5e-6);
    facts.most_moved = 1'000;
    EXPECT_EQ(choose_form(facts).way, Way::alltoallv);
    facts.most_live = 2'000;
    facts.all_live = 8'000;
    facts.curves.packed.fill(0.6e-6F);
    EXPECT_EQ(choose_form(facts).way, Way::token);
}

TEST(AutomaticForm, shares_the_blocks_of_packed_copies_among_the_ranks) {
    Facts facts = measured(1.3e-6, 1e-6);
    facts.most_moved = facts.most_live = 40'000;  // of one rank; token waits for it
    facts.all_live = 4 * 20'000;
    EXPECT_EQ(choose_form(facts).way, Way::alltoallv);
    EXPECT_GT(predict(facts).alltoallv, 0.029);  // the others wait for it, too, but leave it the memory
    facts.is_crowded = true;
    EXPECT_LT(predict(facts).alltoallv, 0.021);  // and the processors
}

TEST(AutomaticForm, counts_blocks_in_order_of_those_that_leave_their_slots) {
    MovesInMap moves;
    EXPECT_EQ(moves.share_in_order(0), 1000U);
    moves.add(0, 0, {0, 0});
    moves.add(0, 1, {0, 1});
    moves.add(0, 2, {1, 7});
    moves.add(0, 3, {1, 8});
    moves.add(0, 4, {1, 9});
    moves.add(0, 5, {2, 10});
    moves.add(0, 6, {1, std::numeric_limits<std::int64_t>::max()});
    moves.add(0, 7, {1, 0});
    EXPECT_EQ(moves.in_place, 2U);
    EXPECT_EQ(moves.in_order, 2U);
    EXPECT_EQ(moves.share_in_order(6), 333U);
}

TEST(AutomaticForm, is_known_before_counting_where_token_wins_even_if_all_blocks_move) {
    EXPECT_FALSE(choose_token_at_once(measured(0.95e-6, 1e-6), 20'000));
    EXPECT_TRUE(choose_token_at_once(measured(0.85e-6, 1e-6), 20'000));
}

TEST(Curves, are_lines_in_logarithms_between_the_measured_sizes) {
    kernel::Calibration::Curve const curve{1e-7F, 4e-7F, 8e-6F};
    EXPECT_FLOAT_EQ(static_cast<float>(seconds_of(curve, 1)), 1e-7F);
    EXPECT_FLOAT_EQ(static_cast<float>(seconds_of(curve, 64)), 1e-7F);
    EXPECT_FLOAT_EQ(static_cast<float>(seconds_of(curve, 256)), 2e-7F);
    EXPECT_FLOAT_EQ(static_cast<float>(seconds_of(curve, 1024)), 4e-7F);
    EXPECT_FLOAT_EQ(static_cast<float>(seconds_of(curve, 16'000)), 8e-6F);
    EXPECT_FLOAT_EQ(static_cast<float>(seconds_of(curve, 32'000)), 16e-6F);
}

TEST(Curves, of_rank_0_are_those_of_all_ranks) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Curves const mine{{1e-9F, 2.5e-6F, 1}, {7e-8F, 1e-10F, 3e-5F}, true};
    groups::Agreement agreement;
    AgreedCurves const agreed(agreement, rank == 0 ? mine : Curves{});
    agreement.run(MPI_COMM_WORLD);
    EXPECT_EQ(agreed.get().token, mine.token);
    EXPECT_EQ(agreed.get().packed, mine.packed);
    EXPECT_TRUE(agreed.get().is_measured);
}

SLUICE_NEEDS_RANKS(2, AutomaticChoice, of_each_array_of_a_plan_is_told_in_the_report);
TEST(AutomaticChoice, of_each_array_of_a_plan_is_told_in_the_report) {
    Settings settings;
    settings.transport = Transport::message;
    Context context(MPI_COMM_WORLD, settings);
    std::uint64_t const slots = 1000;
    std::vector<Destination> destinations(slots);
    for (std::uint64_t slot = 0; slot < slots; ++slot)
        destinations[slot] = {(context.rank() + 1) % context.size(), static_cast<std::int64_t>(slot)};
    std::vector<std::byte> large(slots * 16'000), tiny(slots * 8);
    Plan plan(context, slots, destinations, {.strategy = Strategy::automatic, .staging = {}});
    Blocks const first{large.data(), slots, 16'000_B};
    Blocks const second{tiny.data(), slots, 8_B};
    RedistributionReport const of_large = plan.apply(std::array{first});
    RedistributionReport const of_tiny = plan.apply(std::array{second});
    ASSERT_NE(of_large.strategy, of_tiny.strategy) << of_large.why << "\n" << of_tiny.why;

    RedistributionReport const both = plan.apply(std::array{first, second});
    EXPECT_EQ(both.strategy, of_tiny.strategy);
    EXPECT_NE(both.why.find(name_of(of_large.strategy)), std::string::npos) << both.why;
    EXPECT_NE(both.why.find("; then " + std::string(name_of(of_tiny.strategy)) + ": "), std::string::npos) << both.why;
    EXPECT_EQ(plan.apply(std::array{second, second}).why.find("; then "), std::string::npos);
}

TEST(PredictedPhases, follow_the_free_space) {
    Facts facts = transpose(64);
    EXPECT_EQ(predict_phases(facts), 3U);
    facts.most_phases = 15'000;  // parking on other ranks helps: 2 x 60,000 blocks through 20,000 slots
    EXPECT_EQ(predict_phases(facts), 6U);
    facts.all_free = 0;
    EXPECT_EQ(predict_phases(facts), 60'000U);
    facts.all_moved = 0;
    EXPECT_EQ(predict_phases(facts), 0U);
}

/// A random map over arrays of random sizes, the same on all ranks; `live` per cent of the slots are live.
struct RandomMap {
    RandomMap(int ranks, std::uint64_t live, std::mt19937& random) : slots(static_cast<std::size_t>(ranks)) {
        std::vector<Destination> addresses;
        for (int rank = 0; rank < ranks; ++rank) {
            slots[static_cast<std::size_t>(rank)] = random() % 20;
            for (std::uint64_t slot = 0; slot < slots[static_cast<std::size_t>(rank)]; ++slot)
                addresses.push_back({rank, static_cast<std::int64_t>(slot)});
        }
        from = addresses;
        to = addresses;
        std::shuffle(from.begin(), from.end(), random);
        std::shuffle(to.begin(), to.end(), random);
        from.resize(addresses.size() * live / 100);
        to.resize(from.size());
    }
    std::vector<std::uint64_t> slots;
    std::vector<Destination> from;
    std::vector<Destination> to;
};

/// Blocks of 8 bytes that do not move, of a plan.
Problem problem_of(engine::ContextState& context, AddressMap& forward, memory::Meter& meter) {
    return {.context = context,
            .node = nullptr,
            .forward = &forward,
            .inverse = nullptr,
            .slots = forward.size(),
            .most_slots = forward.size(),
            .block_bytes = 8,
            .staging = 2_MiB,
            .incoming = 0,
            .outgoing = 0,
            .outgoing_by_message = 0,
            .staying = 0,
            .once = false,
            .places = nullptr,
            .shared = nullptr,
            .meter = meter};
}

void check_mover(Context& context, RandomMap const& map) {
    engine::ContextState& state = engine::ContextState::of(context);
    auto const rank = static_cast<std::size_t>(context.rank());
    std::uint64_t const slots = map.slots[rank];
    memory::Meter meter;
    AddressMap forward(slots, context.size(), 50, meter);
    std::vector<std::uint64_t> numbers(slots, 0), expected(slots, 0);
    Problem problem = problem_of(state, forward, meter);
    for (std::size_t i = 0; i < map.from.size(); ++i) {
        bool const ours = map.from[i].rank == context.rank();
        bool const comes = map.to[i].rank == context.rank();
        if (ours) {
            forward.set(static_cast<std::uint64_t>(map.from[i].index), map.to[i]);
            numbers[static_cast<std::size_t>(map.from[i].index)] = i + 1;
        }
        if (comes) expected[static_cast<std::size_t>(map.to[i].index)] = i + 1;
        problem.outgoing += ours && !comes ? 1 : 0;
        problem.incoming += comes && !ours ? 1 : 0;
        problem.staying += ours && comes ? 1 : 0;
    }
    auto const mover = prepare_parking_then_cyclic(problem);
    RedistributionReport report;
    mover->move(reinterpret_cast<std::byte*>(numbers.data()), report);
    for (std::size_t slot = 0; slot < slots; ++slot) {
        if (expected[slot] == 0) continue;
        EXPECT_EQ(numbers[slot], expected[slot]) << "slot " << slot;
    }
}

SLUICE_NEEDS_RANKS(3, AutomaticFacts, bound_the_partners_of_a_rank_without_memory_to_count_them);
TEST(AutomaticFacts, bound_the_partners_of_a_rank_without_memory_to_count_them) {
    Context context(MPI_COMM_WORLD);
    std::uint64_t const slots = 10;
    memory::Meter meter;
    AddressMap forward(slots, context.size(), slots, meter);
    for (std::uint64_t slot = 0; slot < slots; ++slot)
        forward.set(slot, {(context.rank() + 1) % context.size(), static_cast<std::int64_t>(slot)});
    Problem problem = problem_of(engine::ContextState::of(context), forward, meter);
    problem.outgoing = slots;
    problem.incoming = slots;
    EXPECT_EQ(gather_facts(problem).most_partners, 1U);
    auto const others = static_cast<std::uint64_t>(context.size() - 1);
    if (context.rank() == 0) meter.fail_after(0);
    EXPECT_EQ(gather_facts(problem).most_partners, others) << "on every rank";
    problem.outgoing = 2;  // no more partners than blocks
    EXPECT_EQ(gather_facts(problem).most_partners, std::min<std::uint64_t>(2, others));
}

TEST(ParkingThenCyclic, moves_everything_wherever_it_changes_the_strategy) {
    Context context(MPI_COMM_WORLD);
    std::mt19937 random(11);
    for (int round = 0; round < tests::effort(30); ++round) {
        std::uint64_t const live =
            std::array<std::uint64_t, 5>{100, 99, 95, 80, 50}[static_cast<std::size_t>(round % 5)];
        check_mover(context, RandomMap(context.size(), live, random));
    }
}

SLUICE_NEEDS_RANKS(3, ParkingThenCyclic, leaves_the_phases_when_one_rank_alone_is_short_of_space);
TEST(ParkingThenCyclic, leaves_the_phases_when_one_rank_alone_is_short_of_space) {
    Context context(MPI_COMM_WORLD);
    // Ranks 0 and 1 swap 400 blocks and have one free slot each; no other rank moves blocks or has space for parking.
    std::uint64_t const live = context.rank() < 2 ? 400 : 0;
    std::uint64_t const slots = live == 0 ? 0 : 401;
    memory::Meter meter;
    AddressMap forward(slots, context.size(), 401, meter);
    std::vector<std::uint64_t> numbers(slots, 0);
    for (std::uint64_t slot = 0; slot < live; ++slot) {
        forward.set(slot, {1 - context.rank(), static_cast<std::int64_t>(slot)});
        numbers[slot] = static_cast<std::uint64_t>(context.rank()) * 1000 + slot;
    }
    Problem problem = problem_of(engine::ContextState::of(context), forward, meter);
    problem.incoming = problem.outgoing = live;
    RedistributionReport report;
    prepare_parking_then_cyclic(problem)->move(reinterpret_cast<std::byte*>(numbers.data()), report);
    for (std::uint64_t slot = 0; slot < live; ++slot)
        EXPECT_EQ(numbers[slot], static_cast<std::uint64_t>(1 - context.rank()) * 1000 + slot);
    EXPECT_LE(report.rounds, 2U);  // a phase and an action; parking alone takes 400 phases
}

}  // namespace
}  // namespace sluice::redistribution
