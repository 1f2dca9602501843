// SPDX-License-Identifier: BSD-3-Clause
/// Strategy `auto` where memory has room: it copies without maps, in memory that the context keeps until its
/// bytes are needed; where there is none it keeps to the bound. The costs are those built in: the test has no
/// calibration.
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/context_state.hpp"
#include "sluice/rank_plan.hpp"
#include "sluice/redistribute.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {

namespace {

using Block = std::array<std::uint64_t, 4>;
constexpr std::uint64_t k_slots = 3000;

class KeptCopies : public testing::Test {
  protected:
    explicit KeptCopies(Settings const& settings = {}) : context_(MPI_COMM_WORLD, settings), array_(k_slots) { fill(); }

    memory::StagingPool& copies() { return engine::ContextState::of(context_).copies(); }
    int ranks() const { return context_.size(); }
    std::uint64_t number_of_ranks() const { return static_cast<std::uint64_t>(ranks()); }

    void fill() {
        for (std::uint64_t slot = 0; slot < k_slots; ++slot)
            array_[slot].fill(static_cast<std::uint64_t>(context_.rank()) * k_slots + slot);
    }
    /// The block of slot j of rank i goes to rank i + j + shift, to the slot that is as far from the end as j from the
    /// beginning. A tenth is free.
    Destination to(std::uint64_t slot, int shift = 0) const {
        if (slot % 10 == 9) return free_block;
        auto const rank = (static_cast<std::uint64_t>(context_.rank() + shift) + slot) % number_of_ranks();
        return {static_cast<int>(rank), static_cast<std::int64_t>(k_slots - 1 - slot)};
    }
    std::vector<Destination> list() const {
        std::vector<Destination> all(k_slots);
        for (std::uint64_t slot = 0; slot < k_slots; ++slot)
            all[slot] = to(slot);
        return all;
    }
    void expect_moved(int shift = 0) {
        std::uint64_t const n = number_of_ranks();
        for (std::uint64_t slot = 0; slot < k_slots; ++slot) {
            if (slot % 10 == 9) continue;
            auto const ahead = slot + static_cast<std::uint64_t>(shift);
            std::uint64_t const from = (static_cast<std::uint64_t>(context_.rank()) + n * ahead + n - ahead) % n;
            ASSERT_EQ(array_[k_slots - 1 - slot][3], from * k_slots + slot) << "slot " << slot;
        }
    }
    RedistributionReport move() {
        RedistributionReport const report = redistribute(context_, blocks_of(array_), list(), options_);
        expect_moved();
        fill();
        return report;
    }
    static bool packs(RedistributionReport const& report) {
        return report.why.find("in copies that the context keeps") != std::string::npos;
    }

    Context context_;
    std::vector<Block> array_;
    RedistributeOptions const options_{.strategy = Strategy::automatic, .staging = {}};
};

}  // namespace

SLUICE_NEEDS_RANKS(2, KeptCopies, of_small_blocks_serve_call_after_call);
TEST_F(KeptCopies, of_small_blocks_serve_call_after_call) {
    Bytes const before = context_.budget().held(Purpose::staging);
    RedistributionReport const first = move();
    EXPECT_TRUE(packs(first)) << first.why;
    EXPECT_EQ(first.strategy, Strategy::alltoallv);
    EXPECT_NE(first.why.find("costs"), std::string::npos) << first.why;
    Bytes const kept = copies().kept();
    // Each block that moves is copied on one or two sides, with 4 bytes for its index; a bit for each slot; two pages.
    EXPECT_GT(kept.count, k_slots * sizeof(Block) / 2);
    EXPECT_LE(kept.count, 2 * k_slots * (sizeof(Block) + 4) + k_slots / 8 + 2 * 4096 + 256);
    EXPECT_EQ(context_.budget().held(Purpose::staging), before + kept);
    EXPECT_GE(first.extra_peak, kept);
    Bytes const peak = copies().peak();
    for (int again = 0; again < 3; ++again)
        EXPECT_TRUE(packs(move()));
    EXPECT_EQ(copies().peak(), peak) << "no call has taken new memory";
    EXPECT_EQ(copies().kept(), kept);
}

SLUICE_NEEDS_RANKS(2, KeptCopies, serve_a_call_by_rank_without_maps);
TEST_F(KeptCopies, serve_a_call_by_rank_without_maps) {
    std::vector<int> ranks;
    for (std::uint64_t slot = 0; slot < k_slots; ++slot)
        ranks.push_back(to(slot).rank);
    RankPlanOptions const options{BlockOrder::by_source, std::nullopt, options_};
    RedistributionReport const report = redistribute(context_, array_, ranks, Resize::grow, options);
    EXPECT_TRUE(packs(report)) << report.why;
    EXPECT_EQ(report.strategy, Strategy::alltoallv);
    std::vector<std::string> steps;
    for (StepTime const& step : report.steps)
        steps.push_back(step.name);
    std::vector<std::string> const without_maps{"slots", "resize", "count", "pack", "addresses", "exchange", "unpack"};
    EXPECT_EQ(steps, without_maps);
    std::uint64_t const n = number_of_ranks();
    std::vector<std::uint64_t> came;
    for (std::uint64_t source = 0; source < n; ++source)
        for (std::uint64_t slot = 0; slot < k_slots; ++slot)
            if (slot % 10 != 9 && (source + slot) % n == static_cast<std::uint64_t>(context_.rank()))
                came.push_back(source * k_slots + slot);
    ASSERT_EQ(array_.size(), came.size());
    for (std::size_t slot = 0; slot < came.size(); ++slot)
        ASSERT_EQ(array_[slot][3], came[slot]) << "slot " << slot;
}

SLUICE_NEEDS_RANKS(2, KeptCopies, go_back_when_the_budget_asks_and_come_again);
TEST_F(KeptCopies, go_back_when_the_budget_asks_and_come_again) {
    Bytes const before = context_.budget().held();
    EXPECT_TRUE(packs(move()));
    ASSERT_GT(context_.budget().held(), before);
    Bytes const limit = context_.budget().limit();
    context_.budget().set_limit(before);
    EXPECT_EQ(copies().kept(), 0_B);
    EXPECT_EQ(context_.budget().held(), before);
    context_.budget().set_limit(limit);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_TRUE(packs(move()));
    EXPECT_GT(copies().kept(), 0_B);
}

SLUICE_NEEDS_RANKS(2, KeptCopies, end_with_their_context);
TEST_F(KeptCopies, end_with_their_context) {
    Bytes const before = context_.budget().held();
    Bytes const resident = context_.budget().resident();
    {
        Context other(MPI_COMM_WORLD);
        redistribute(other, blocks_of(array_), list(), options_);
        EXPECT_GT(context_.budget().held(), before);
        EXPECT_GT(context_.budget().resident(), resident);
    }
    EXPECT_EQ(context_.budget().held(), before);
    EXPECT_EQ(context_.budget().resident(), resident);
}

SLUICE_NEEDS_RANKS(2, KeptCopies, that_one_rank_cannot_take_are_taken_by_none);
TEST_F(KeptCopies, that_one_rank_cannot_take_are_taken_by_none) {
    if (context_.rank() == ranks() - 1) copies().fail_after(0);
    RedistributionReport const report = move();
    EXPECT_FALSE(packs(report)) << report.why;
    EXPECT_NE(report.strategy, Strategy::alltoallv) << report.why;
    EXPECT_NE(report.why.find("no memory for copies on some rank"), std::string::npos) << report.why;
}

SLUICE_NEEDS_RANKS(2, KeptCopies, of_a_plan_serve_the_next_one);
TEST_F(KeptCopies, of_a_plan_serve_the_next_one) {
    for (int round = 0; round < 2; ++round) {
        Plan plan(context_, k_slots, list(), options_);
        RedistributionReport const report = plan.apply(std::array{blocks_of(array_)});
        expect_moved();
        fill();
        EXPECT_EQ(report.strategy, Strategy::alltoallv) << report.why;
        EXPECT_EQ(copies().kept(), 0_B) << "the plan has them";
    }
    EXPECT_GT(copies().kept(), 0_B);
    EXPECT_EQ(copies().kept(), copies().peak());
}

SLUICE_NEEDS_RANKS(2, KeptCopies, are_not_taken_for_blocks_that_token_moves_faster);
TEST_F(KeptCopies, are_not_taken_for_blocks_that_token_moves_faster) {
    std::vector<std::array<std::byte, 100'000>> large(20);
    std::vector<Destination> next;
    for (std::int64_t slot = 0; slot < 20; ++slot)
        next.push_back({(context_.rank() + 1) % ranks(), slot});
    RedistributionReport const report = redistribute(context_, blocks_of(large), next, options_);
    EXPECT_EQ(report.strategy, Strategy::token) << report.why;
    EXPECT_EQ(copies().peak(), 0_B);
    EXPECT_LE(report.extra_peak, 2_MiB + Bytes{20 * 16} + Bytes{64});
    EXPECT_NE(report.why.find("room for copies"), std::string::npos) << report.why;
}

SLUICE_NEEDS_RANKS(2, KeptCopies, survive_a_rule_that_answers_otherwise_than_when_it_was_counted);
TEST_F(KeptCopies, survive_a_rule_that_answers_otherwise_than_when_it_was_counted) {
    std::uint64_t asked = 0;
    auto const rule = [&](std::uint64_t slot, std::span<std::byte const>) {
        return to(slot, asked++ < k_slots ? 0 : 1);
    };
    redistribute(context_, blocks_of(array_), rule, options_);
    expect_moved(1);
}

SLUICE_NEEDS_RANKS(2, KeptCopies, leave_the_array_as_it_was_if_the_map_has_a_fault);
TEST_F(KeptCopies, leave_the_array_as_it_was_if_the_map_has_a_fault) {
    std::vector<Block> const before = array_;
    std::vector<Destination> twice = list();
    if (context_.rank() == 0) twice[1].index = twice[1 + 10 * number_of_ranks()].index;
    EXPECT_THROW(redistribute(context_, blocks_of(array_), twice, options_), Error);
    EXPECT_EQ(array_, before);
    EXPECT_TRUE(packs(move()));
}

namespace {

/// Less memory than the program has already, so the budget is 0.
class NoRoomForCopies : public KeptCopies {
  protected:
    NoRoomForCopies() : KeptCopies(with_little_memory()) {}
    static Settings with_little_memory() {
        Settings settings;
        settings.memory = 1_MiB;
        return settings;
    }
};

}  // namespace

SLUICE_NEEDS_RANKS(2, NoRoomForCopies, keeps_auto_within_the_bound);
TEST_F(NoRoomForCopies, keeps_auto_within_the_bound) {
    if (context_.budget().limit() > 0_B) return;  // under the simulator it is the guaranteed minimum
    RedistributionReport const report = move();
    EXPECT_NE(report.strategy, Strategy::alltoallv) << report.why;
    EXPECT_NE(report.why.find("no room for copies"), std::string::npos) << report.why;
    EXPECT_EQ(copies().peak(), 0_B);
    std::uint64_t const partners = number_of_ranks() - 1;
    EXPECT_LE(report.extra_peak, 2_MiB + Bytes{16 * k_slots} + Bytes{64 * partners});
}

}  // namespace sluice::tests
