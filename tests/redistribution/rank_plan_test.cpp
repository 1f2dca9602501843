// SPDX-License-Identifier: BSD-3-Clause
/// Redistribution by rank: each rank can compute what all ranks have, and so what must come to it and where.
#include "sluice/rank_plan.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/context_state.hpp"
#include "memory/meter.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

struct Particle {
    std::uint64_t id;
    double place[2];
    bool operator==(Particle const&) const = default;
};

/// Names a block by where it was before.
std::uint64_t id_of(int rank, std::uint64_t index) {
    return (static_cast<std::uint64_t>(rank) << 32) + index;
}
Particle particle_of(std::uint64_t id) {
    return {id, {static_cast<double>(id) / 3, -static_cast<double>(id)}};
}

/// The list of any rank, which all ranks compute alike.
using Lists = std::function<std::vector<int>(int rank)>;

class RankPlans : public testing::Test {
  protected:
    explicit RankPlans(Settings const& settings = {})
        : context_(MPI_COMM_WORLD, settings), rank_(context_.rank()), ranks_(context_.size()) {}

    Lists random_lists(unsigned seed, std::uint64_t most, double stay) const {
        return [=, this](int rank) {
            std::mt19937 random(seed * 1000 + static_cast<unsigned>(rank));
            std::vector<int> list(random() % (most + 1));
            std::uniform_real_distribution<double> part(0, 1);
            for (int& to : list)
                to = part(random) < stay ? rank : static_cast<int>(random() % static_cast<unsigned>(ranks_ + 1)) - 1;
            return list;
        };
    }
    static std::vector<std::uint64_t> ids_before(std::vector<int> const& list, int rank) {
        std::vector<std::uint64_t> ids(list.size());
        std::iota(ids.begin(), ids.end(), id_of(rank, 0));
        return ids;
    }
    /// What comes to this rank, by the rank it comes from.
    std::vector<std::uint64_t> coming(Lists const& lists) const {
        std::vector<std::uint64_t> ids;
        for (int source = 0; source < ranks_; ++source) {
            std::vector<int> const list = lists(source);
            for (std::size_t i = 0; i < list.size(); ++i)
                if (list[i] == rank_) ids.push_back(id_of(source, i));
        }
        return ids;
    }
    /// The same map by rank and slot: the slots of order by_source.
    std::vector<Destination> in_order(Lists const& lists) const {
        std::vector<std::int64_t> next(static_cast<std::size_t>(ranks_), 0);
        for (int source = 0; source < rank_; ++source)
            for (int const to : lists(source))
                if (to >= 0) ++next[static_cast<std::size_t>(to)];
        std::vector<Destination> destinations;
        for (int const to : lists(rank_))
            destinations.push_back(to < 0 ? free_block : Destination{to, next[static_cast<std::size_t>(to)]++});
        return destinations;
    }
    void expect_in_order(Lists const& lists, RedistributeOptions const& how = {}) {
        std::vector<int> const list = lists(rank_);
        std::vector<std::uint64_t> array = ids_before(list, rank_);
        redistribute(context_, array, list, Resize::grow, {BlockOrder::by_source, std::nullopt, how});
        EXPECT_EQ(array, coming(lists));
    }
    void expect_in_any_order(Lists const& lists) {
        std::vector<int> const list = lists(rank_);
        std::vector<std::uint64_t> const before = ids_before(list, rank_);
        std::vector<std::uint64_t> array = before;
        RedistributionReport const report = redistribute(context_, array, list);
        auto const staying = static_cast<std::size_t>(std::count(list.begin(), list.end(), rank_));
        std::uint64_t moved = 0;  // of the blocks that stay
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i] != rank_) continue;
            if (i < staying)
                EXPECT_EQ(array[i], before[i]);
            else
                ++moved;
        }
        // Blocks that leave or come may be copied on their way.
        EXPECT_LE(report.blocks_local, 2 * moved + report.blocks_sent + report.blocks_received);
        std::sort(array.begin(), array.end());
        EXPECT_EQ(array, coming(lists));
    }
    /// The error of a call, and whether its text names what it must.
    static std::optional<ErrorCode> code_of(std::function<void()> const& call, std::string const& says) {
        try {
            call();
        } catch (Error const& error) {
            EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
            return error.code();
        }
        return std::nullopt;
    }

    Context context_;
    int rank_;
    int ranks_;
};

TEST_F(RankPlans, keep_the_order_of_the_whole_array) {
    for (unsigned seed = 1; seed <= 20; ++seed)
        expect_in_order(random_lists(seed, seed % 4 == 0 ? 3 : 700, seed % 3 == 0 ? 0.9 : 0));
}

TEST_F(RankPlans, let_blocks_that_stay_where_they_are) {
    for (unsigned seed = 1; seed <= 20; ++seed)
        expect_in_any_order(random_lists(seed, seed % 4 == 0 ? 3 : 700, seed % 3 == 0 ? 0.9 : 0.5));
}

TEST_F(RankPlans, move_nothing_where_all_stay) {
    std::vector<int> const list(100, rank_);
    std::vector<std::uint64_t> array = ids_before(list, rank_);
    RedistributionReport const report = redistribute(context_, array, list);
    EXPECT_EQ(array, ids_before(list, rank_));
    EXPECT_EQ(report.blocks_local + report.blocks_sent, 0U);
}

TEST_F(RankPlans, serve_all_to_one_and_back_and_empty_ranks) {
    Lists const to_one = [this](int rank) { return std::vector<int>(static_cast<std::size_t>(rank) * 10, ranks_ - 1); };
    expect_in_order(to_one);
    expect_in_any_order(to_one);
    Lists const from_one = [this](int rank) {
        std::vector<int> list(rank == 0 ? static_cast<std::size_t>(ranks_) * 50 : 0);
        for (std::size_t i = 0; i < list.size(); ++i)
            list[i] = static_cast<int>(i % static_cast<std::size_t>(ranks_));
        return list;
    };
    expect_in_order(from_one);
    expect_in_any_order(from_one);
    Lists const none = [](int rank) { return std::vector<int>(static_cast<std::size_t>(rank), -1); };
    expect_in_order(none);
    expect_in_any_order(none);
}

TEST_F(RankPlans, work_with_each_strategy) {
    for (Strategy const strategy :
         {Strategy::token, Strategy::parking, Strategy::cyclic, Strategy::alltoallv, Strategy::automatic})
        expect_in_order(random_lists(77, 200, 0.3), {strategy, std::nullopt});
}

TEST_F(RankPlans, move_several_vectors_by_one_list) {
    Lists const lists = random_lists(5, 300, 0.4);
    std::vector<int> const list = lists(rank_);
    std::vector<std::uint64_t> ids = ids_before(list, rank_);
    std::vector<Particle> particles;
    std::vector<char> marks;
    for (std::uint64_t const id : ids) {
        particles.push_back(particle_of(id));
        marks.push_back(static_cast<char>(id % 101));
    }
    RankPlan plan(context_, list);
    EXPECT_EQ(plan.count_before(), list.size());
    EXPECT_EQ(plan.count_after(), coming(lists).size());
    plan.apply(Resize::grow, ids, particles, marks);
    ASSERT_EQ(ids.size(), plan.count_after());
    ASSERT_EQ(particles.size(), ids.size());
    ASSERT_EQ(marks.size(), ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        EXPECT_EQ(particles[i], particle_of(ids[i]));
        EXPECT_EQ(marks[i], static_cast<char>(ids[i] % 101));
    }
}

TEST_F(RankPlans, resize_as_they_are_told) {
    // All blocks of rank 0 go to the last rank.
    std::vector<int> const list(rank_ == 0 ? 1000 : 10, rank_ == 0 ? ranks_ - 1 : rank_);
    std::vector<std::uint64_t> array = ids_before(list, rank_);
    redistribute(context_, array, list, Resize::fit);
    if (ranks_ > 1 && rank_ == 0) {
        EXPECT_TRUE(array.empty());
        EXPECT_LT(array.capacity(), 1000U);
    }
    std::vector<std::uint64_t> roomy = ids_before(list, rank_);
    roomy.reserve(1010);
    std::uint64_t const* const data = roomy.data();
    redistribute(context_, roomy, list, Resize::must_fit);
    EXPECT_EQ(roomy.data(), data);
    EXPECT_EQ(roomy.size(), rank_ == ranks_ - 1 ? (ranks_ > 1 ? 1010U : 1000U) : (rank_ == 0 ? 0U : 10U));
}

/// The last rank lacks memory for its n-th allocation, in a call and in a plan of which nothing is made.
TEST_F(RankPlans, are_one_error_on_all_ranks_whichever_allocation_fails) {
    Lists const lists = random_lists(13, 200, 0.3);
    std::vector<int> const list = lists(rank_);
    expect_in_order(lists);
    memory::Meter& meter = engine::ContextState::of(context_).meter();
    Bytes const held = meter.held();
    for (Strategy const strategy : {Strategy::token, Strategy::automatic}) {
        for (bool const as_plan : {false, true}) {
            RankPlanOptions const options{BlockOrder::by_source, std::nullopt, {strategy, std::nullopt}};
            bool went_through = false;
            for (std::uint64_t allowed = 0; allowed < 400 && !went_through; ++allowed) {
                std::vector<std::uint64_t> array = ids_before(list, rank_);
                if (rank_ == ranks_ - 1) meter.fail_after(allowed);
                auto const code = code_of(
                    [&] {
                        if (as_plan)
                            RankPlan(context_, list, options).apply(Resize::grow, array);
                        else
                            redistribute(context_, array, list, Resize::grow, options);
                    },
                    "no memory");
                meter.never_fail();
                EXPECT_EQ(meter.held(), held);
                int refused = code ? 1 : 0;
                MPI_Allreduce(MPI_IN_PLACE, &refused, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
                ASSERT_EQ(refused, code ? ranks_ : 0) << "when allocation " << allowed << " fails";
                went_through = !code;
                ASSERT_EQ(array, code ? ids_before(list, rank_) : coming(lists)) << "allocation " << allowed;
                EXPECT_EQ(code.value_or(ErrorCode::out_of_memory), ErrorCode::out_of_memory);
            }
            EXPECT_TRUE(went_through);
        }
    }
}

class RankPlansByMessage : public RankPlans {
  protected:
    RankPlansByMessage() : RankPlans(by_message()) {}
    static Settings by_message() {
        Settings settings;
        settings.set("transport", "message");
        return settings;
    }
    static std::uint64_t counter(RedistributionReport const& report, std::string_view name) {
        for (CounterValue const& value : report.counters)
            if (value.name == name) return value.value;
        return 0;
    }
    static std::vector<std::string> names_of_steps(RedistributionReport const& report) {
        std::vector<std::string> names;
        for (StepTime const& step : report.steps)
            names.push_back(step.name);
        return names;
    }
};

TEST_F(RankPlansByMessage, report_all_that_the_one_call_does) {
    Lists const lists = random_lists(9, 2000, 0.1);
    std::vector<int> const list = lists(rank_);
    std::vector<std::uint64_t> array = ids_before(list, rank_);
    std::vector<std::uint64_t> by_slot = array;
    RedistributeOptions const how{Strategy::token, 64_KiB};
    RedistributionReport const report =
        redistribute(context_, array, list, Resize::grow, {BlockOrder::by_source, std::nullopt, how});
    by_slot.resize(std::max(array.size(), list.size()));
    RedistributionReport const listed = redistribute(context_, blocks_of(by_slot), in_order(lists), how);
    by_slot.resize(array.size());
    EXPECT_EQ(by_slot, array);

    EXPECT_EQ(counter(report, "addresses.messages"), counter(listed, "addresses.messages"));
    EXPECT_EQ(counter(report, "addresses.messages") > 0, listed.blocks_sent > 0);
    std::vector<std::string> steps = names_of_steps(listed);
    steps.insert(steps.begin(), {"slots", "resize"});
    EXPECT_EQ(names_of_steps(report), steps);
    // The choice of the slots takes about 64 KiB and some tables for a moment, less for few partners; the move what it
    // takes with a list.
    EXPECT_GE(report.extra_peak, ranks_ < 4 ? listed.extra_peak : std::max(listed.extra_peak, 56_KiB));
    EXPECT_LE(report.extra_peak, std::max(listed.extra_peak, 68_KiB));
}

SLUICE_NEEDS_RANKS(2, RankPlans, refuse_on_all_ranks_what_one_rank_cannot_hold);
TEST_F(RankPlans, refuse_on_all_ranks_what_one_rank_cannot_hold) {
    std::vector<int> const list(100, 0);
    std::vector<std::uint64_t> array = ids_before(list, rank_);
    array.shrink_to_fit();
    std::vector<std::uint64_t> const before = array;
    EXPECT_EQ(code_of([&] { redistribute(context_, array, list, Resize::must_fit); }, "has room for"),
              ErrorCode::invalid_argument);
    EXPECT_EQ(array, before);
    RankPlanOptions options;
    if (rank_ == 0) options.room = 100;
    EXPECT_EQ(code_of([&] { RankPlan(context_, list, options); },
                      "rank 0 gets " + std::to_string(100 * ranks_) + " blocks and has room for 100"),
              ErrorCode::invalid_argument);
}

TEST_F(RankPlans, refuse_wrong_arguments_on_all_ranks) {
    std::vector<int> list(10, rank_);
    if (rank_ == ranks_ - 1) list[3] = ranks_;
    EXPECT_EQ(code_of([&] { RankPlan(context_, list); }, "block 3 of rank " + std::to_string(ranks_ - 1)),
              ErrorCode::invalid_argument);
    std::vector<int> const right(10, rank_);
    std::vector<std::uint64_t> array(rank_ == 0 ? 11 : 10, 7);
    std::vector<std::uint64_t> const before = array;
    EXPECT_EQ(code_of([&] { redistribute(context_, array, right); }, "is for 10 elements, the vector has 11"),
              ErrorCode::invalid_argument);
    EXPECT_EQ(array, before);
    if (ranks_ > 1) {
        RankPlanOptions options;
        options.order = rank_ == 0 ? BlockOrder::any : BlockOrder::by_source;
        EXPECT_EQ(code_of([&] { RankPlan(context_, right, options); }, "order differs"), ErrorCode::invalid_argument);
    }
    RankPlan plan(context_, right);
    RankPlan const other = std::move(plan);
    EXPECT_EQ(code_of([&] { plan.apply(std::span<Blocks const>()); }, "was moved from"), ErrorCode::invalid_argument);
    EXPECT_EQ(other.count_after(), 10U);
}

}  // namespace
}  // namespace sluice::tests
