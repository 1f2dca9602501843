// SPDX-License-Identifier: BSD-3-Clause
/// All-to-alls from one buffer into another: every algorithm with sizes around every threshold, tiny windows, plans,
/// bounds of memory, and errors.
#include "sluice/alltoall.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectives/inplace_bed.hpp"
#include "engine/context_state.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

std::vector<AlltoallAlgorithm> const k_all{AlltoallAlgorithm::automatic, AlltoallAlgorithm::plain,
                                           AlltoallAlgorithm::log_step, AlltoallAlgorithm::window,
                                           AlltoallAlgorithm::pull};

AlltoallOptions by(AlltoallAlgorithm algorithm) {
    AlltoallOptions options;
    options.algorithm = algorithm;
    return options;
}

/// Blocks that leave and room for those that come, of `bytes` bytes each, with guards.
struct Both {
    ByteBlocks from;
    ByteBlocks to;
    Both(Context const& context, std::uint64_t bytes, int call = 0)
        : from(context.rank(), context.size(), bytes), to(context.rank(), context.size(), bytes) {
        from.fill(call);
        to.fill(call + 100);
    }
};

class AlltoallTest : public testing::TestWithParam<AlltoallAlgorithm> {
  protected:
    Context context_{MPI_COMM_WORLD, Settings{}};
    std::uint64_t peers() const { return static_cast<std::uint64_t>(context_.size() - 1); }
};

TEST_P(AlltoallTest, sends_blocks_of_every_size_and_leaves_the_others_alone) {
    for (std::uint64_t const bytes : {0U, 1U, 7U, 8U, 512U, 1000U, 2048U, 4096U, 16'383U, 16'384U, 65'537U, 300'001U})
        for (int call = 0; call < 3; ++call) {
            Both both(context_, bytes, call);
            auto const count = static_cast<std::int64_t>(bytes);
            AlltoallOutcome const outcome =
                alltoall(context_, both.from.data(), count, MPI_BYTE, both.to.data(), count, MPI_BYTE, by(GetParam()));
            ASSERT_EQ(both.to.problem(call), "") << bytes << " bytes, call " << call;
            ByteBlocks unchanged(context_.rank(), context_.size(), bytes);
            unchanged.fill(call);
            for (std::uint64_t i = 0; i < bytes * (peers() + 1); ++i)
                ASSERT_EQ(both.from.data()[i], unchanged.data()[i]) << "a byte that leaves has changed: " << i;
            EXPECT_EQ(outcome.sent.count, bytes * peers());
            EXPECT_EQ(outcome.received.count, bytes * peers());
            EXPECT_EQ(outcome.kept.count, bytes);
            EXPECT_NE(outcome.algorithm, AlltoallAlgorithm::automatic);
        }
}

TEST_P(AlltoallTest, of_arrays_and_of_different_types_on_both_sides) {
    auto const ranks = static_cast<std::size_t>(context_.size());
    std::vector<double> from(6 * ranks);
    std::vector<double> to(from.size(), -1);
    for (std::size_t i = 0; i < from.size(); ++i)
        from[i] = static_cast<double>(context_.rank()) * 1000 + static_cast<double>(i);
    alltoall(context_, from, to, by(GetParam()));
    auto const expected = [&](std::size_t i) {
        return static_cast<double>(i / 6) * 1000 + static_cast<double>(context_.rank()) * 6 +
               static_cast<double>(i % 6);
    };
    for (std::size_t i = 0; i < to.size(); ++i)
        EXPECT_EQ(to[i], expected(i)) << i;
    // The same, from one double at a time into pairs of them.
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    std::fill(to.begin(), to.end(), -1);
    alltoall(context_, from.data(), 6, MPI_DOUBLE, to.data(), 3, pair, by(GetParam()));
    for (std::size_t i = 0; i < to.size(); ++i)
        EXPECT_EQ(to[i], expected(i)) << i;
    MPI_Type_free(&pair);
}

TEST_P(AlltoallTest, with_one_token_at_a_time_on_some_ranks) {
    AlltoallOptions options = by(GetParam());
    options.window = context_.rank() % 2 == 0 ? 4096_B : 10_MiB;
    for (std::uint64_t const bytes : {100U, 5000U, 100'000U}) {
        Both both(context_, bytes);
        auto const count = static_cast<std::int64_t>(bytes);
        AlltoallOutcome const outcome =
            alltoall(context_, both.from.data(), count, MPI_BYTE, both.to.data(), count, MPI_BYTE, options);
        EXPECT_EQ(both.to.problem(), "");
        if (outcome.algorithm == AlltoallAlgorithm::window && bytes >= 5000 && context_.size() > 1) {
            EXPECT_EQ(outcome.most_under_way, context_.rank() % 2 == 0 ? 1 : peers());
        }
    }
}

/// What a pair exchanges: nothing at all for some, and different bytes in the two directions.
std::int64_t count_between(int from, int to) {
    return (from + 2 * to) % 4 == 0 ? 0 : 700 * ((3 * from + to) % 5) * (from + 1) + to;
}

struct ListsOfOneSide {
    std::vector<std::int64_t> counts;
    std::vector<std::int64_t> places;
    std::int64_t end = 0;
    /// Blocks are in falling order, with gaps between them.
    void place() {
        places.resize(counts.size());
        for (std::size_t i = counts.size(); i-- > 0;) {
            places[i] = end + 3;
            end += counts[i] + 5;
        }
    }
};

TEST_P(AlltoallTest, with_counts_and_displacements_once_and_by_a_plan) {
    int const me = context_.rank();
    ListsOfOneSide out;
    ListsOfOneSide in;
    for (int peer = 0; peer < context_.size(); ++peer) {
        out.counts.push_back(count_between(me, peer));
        in.counts.push_back(count_between(peer, me));
    }
    out.place();
    in.place();
    std::vector<unsigned char> from(static_cast<std::size_t>(out.end) + 8, 0xa5);
    std::vector<unsigned char> expected(static_cast<std::size_t>(in.end) + 8, 0x5a);
    for (int peer = 0; peer < context_.size(); ++peer) {
        auto const i = static_cast<std::size_t>(peer);
        for (std::int64_t k = 0; k < out.counts[i]; ++k)
            from[static_cast<std::size_t>(out.places[i] + k)] = byte_of(me, peer, static_cast<std::uint64_t>(k));
        for (std::int64_t k = 0; k < in.counts[i]; ++k)
            expected[static_cast<std::size_t>(in.places[i] + k)] = byte_of(peer, me, static_cast<std::uint64_t>(k));
    }
    std::vector<unsigned char> to(expected.size(), 0x5a);
    alltoallv(context_, from.data(), out.counts, out.places, MPI_UNSIGNED_CHAR, to.data(), in.counts, in.places,
              MPI_UNSIGNED_CHAR, by(GetParam()));
    EXPECT_TRUE(to == expected);
    AlltoallPlan plan(context_, out.counts, out.places, MPI_UNSIGNED_CHAR, in.counts, in.places, MPI_UNSIGNED_CHAR,
                      by(GetParam()));
    for (int call = 0; call < 3; ++call) {
        to.assign(expected.size(), 0x5a);
        AlltoallOutcome const outcome = plan.apply(from.data(), to.data());
        EXPECT_EQ(outcome.algorithm, plan.algorithm());
        EXPECT_TRUE(to == expected);
    }
    if (GetParam() == AlltoallAlgorithm::plain) {
        EXPECT_EQ(plan.algorithm(), AlltoallAlgorithm::plain);
    }
}

TEST_P(AlltoallTest, by_a_plan_that_outlives_its_context_and_the_datatype) {
    MPI_Datatype row = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(50, MPI_BYTE, &row);
    MPI_Type_commit(&row);
    auto own = std::make_unique<Context>(MPI_COMM_WORLD, Settings{});
    AlltoallPlan plan(*own, 4, row, 200, MPI_BYTE, by(GetParam()));
    MPI_Type_free(&row);
    own.reset();
    AlltoallPlan moved = std::move(plan);
    Both both(context_, 200);
    moved.apply(both.from.data(), both.to.data());
    EXPECT_EQ(both.to.problem(), "");
    EXPECT_THROW(plan.apply(nullptr, nullptr), Error);  // NOLINT: the point is that it was moved from
}

TEST_P(AlltoallTest, gives_all_leases_back_and_holds_no_more_than_the_window) {
    Bytes const before = context_.budget().held();
    context_.budget().reset_peak();
    for (int call = 0; call < 200; ++call) {
        Both both(context_, 20'000, call);
        AlltoallOptions options = by(GetParam());
        options.window = 300_KiB;
        AlltoallOutcome const outcome =
            alltoall(context_, both.from.data(), 20'000, MPI_BYTE, both.to.data(), 20'000, MPI_BYTE, options);
        ASSERT_EQ(both.to.problem(call), "");
        EXPECT_LE(outcome.staging, 32_KiB);
    }
    EXPECT_EQ(context_.budget().held(), before);
    EXPECT_LE(context_.budget().peak(), Bytes{before.count + (300U << 10)});
}

TEST_P(AlltoallTest, goes_on_with_a_budget_of_nothing) {
    Settings settings;
    settings.memory = 1_B;
    Context poor(MPI_COMM_WORLD, settings);
    for (std::uint64_t const bytes : {64U, 100'000U}) {
        Both both(poor, bytes);
        auto const count = static_cast<std::int64_t>(bytes);
        alltoall(poor, both.from.data(), count, MPI_BYTE, both.to.data(), count, MPI_BYTE, by(GetParam()));
        EXPECT_EQ(both.to.problem(), "");
    }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, AlltoallTest, testing::ValuesIn(k_all),
                         [](auto const& tested) { return std::string(name_of(tested.param)); });

TEST(AlltoallErrors, are_of_the_rank_that_passes_something_wrong) {
    Context context(MPI_COMM_WORLD, Settings{});
    auto const ranks = static_cast<std::size_t>(context.size());
    Both both(context, 8);
    auto* const from = both.from.data();
    auto* const to = both.to.data();
    auto const text_of = [](auto const& call) -> std::string {
        try {
            call();
        } catch (Error const& error) {
            return error.code() == ErrorCode::invalid_argument ? error.what() : "another code";
        }
        return "nothing was thrown";
    };
    auto const contains = [](std::string const& text, std::string const& part) {
        return text.find(part) != std::string::npos;
    };
    EXPECT_PRED2(contains, text_of([&] { alltoall(context, from, -1, MPI_BYTE, to, 8, MPI_BYTE); }), "is -1");
    EXPECT_PRED2(contains, text_of([&] { alltoall(context, from, 8, MPI_DATATYPE_NULL, to, 8, MPI_BYTE); }),
                 "MPI_DATATYPE_NULL");
    EXPECT_PRED2(contains, text_of([&] { alltoall(context, nullptr, 8, MPI_BYTE, to, 8, MPI_BYTE); }),
                 "to send from is NULL");
    EXPECT_PRED2(contains, text_of([&] { alltoall(context, from, 8, MPI_BYTE, nullptr, 8, MPI_BYTE); }),
                 "to receive into is NULL");
    EXPECT_PRED2(contains, text_of([&] { alltoall(context, from, 8, MPI_BYTE, to, 7, MPI_BYTE); }), "8 bytes where");
    EXPECT_PRED2(contains, text_of([&] { alltoall(context, from, 8, MPI_BYTE, from, 8, MPI_BYTE); }),
                 "alltoall_in_place");
    std::vector<std::int64_t> const lists(ranks, 1);
    std::vector<std::int64_t> const longer(ranks + 1, 1);
    EXPECT_PRED2(contains,
                 text_of([&] { alltoallv(context, from, longer, lists, MPI_BYTE, to, lists, lists, MPI_BYTE); }),
                 "counts to send");
    std::vector<char> const odd(ranks + 1);
    std::vector<char> other(ranks);
    EXPECT_PRED2(contains, text_of([&] { alltoall(context, odd, other); }), "elements is sent into one of");
    alltoall(context, from, 8, MPI_BYTE, to, 8, MPI_BYTE);  // and nothing is left of them
    EXPECT_EQ(both.to.problem(), "");
}

SLUICE_NEEDS_RANKS(2, AlltoallErrors, of_plans_are_the_same_on_every_rank);
TEST(AlltoallErrors, of_plans_are_the_same_on_every_rank) {
    Context context(MPI_COMM_WORLD, Settings{});
    auto const ranks = static_cast<std::size_t>(context.size());
    std::vector<std::int64_t> const out(ranks, 10);
    std::vector<std::int64_t> in(ranks, 10);
    std::vector<std::int64_t> places(ranks);
    for (std::size_t i = 0; i < ranks; ++i)
        places[i] = static_cast<std::int64_t>(10 * i);
    auto const text_of = [](auto const& make) -> std::string {
        try {
            make();
        } catch (Error const& error) {
            return error.what();
        }
        return "nothing was thrown";
    };
    if (context.rank() == 1) in[0] = 9;
    std::string const differs = text_of([&] { AlltoallPlan(context, out, places, MPI_BYTE, in, places, MPI_BYTE); });
    EXPECT_NE(differs.find("rank 1 expects 9 bytes from rank 0, which sends 10"), std::string::npos) << differs;
    std::string const negative =
        text_of([&] { AlltoallPlan(context, context.rank() == 0 ? -3 : 3, MPI_BYTE, 3, MPI_BYTE); });
    EXPECT_NE(negative.find("is -3"), std::string::npos) << negative;
    std::string const algorithm = text_of([&] {
        AlltoallPlan(context, 3, MPI_BYTE, 3, MPI_BYTE,
                     by(context.rank() == 0 ? AlltoallAlgorithm::plain : AlltoallAlgorithm::window));
    });
    EXPECT_NE(algorithm.find("algorithm"), std::string::npos) << algorithm;
    EXPECT_NE(algorithm.find("plain"), std::string::npos) << algorithm;
}

TEST(AlltoallTrials, end_with_one_algorithm_for_all_ranks) {
    Context context(MPI_COMM_WORLD, Settings{});
    for (std::int64_t const bytes : {64, 40'000}) {
        AlltoallPlan plan(context, bytes, MPI_BYTE, bytes, MPI_BYTE, by(AlltoallAlgorithm::measured));
        int calls = 0;
        for (; plan.algorithm() == AlltoallAlgorithm::measured; ++calls) {
            ASSERT_LT(calls, 12);
            Both both(context, static_cast<std::uint64_t>(bytes), calls);
            plan.apply(both.from.data(), both.to.data());
            EXPECT_EQ(both.to.problem(calls), "");
        }
        EXPECT_EQ(calls % 3, 0);
        int chosen[2] = {static_cast<int>(plan.algorithm()), -static_cast<int>(plan.algorithm())};
        MPI_Allreduce(MPI_IN_PLACE, chosen, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        EXPECT_EQ(chosen[0], -chosen[1]);
        Both both(context, static_cast<std::uint64_t>(bytes), 50);
        EXPECT_EQ(plan.apply(both.from.data(), both.to.data()).algorithm, plan.algorithm());
        EXPECT_EQ(both.to.problem(50), "");
    }
}

TEST(AlltoallWays, are_those_that_serve) {
    Context context(MPI_COMM_WORLD, Settings{});
    Both both(context, 100'000);
    auto const run = [&](AlltoallAlgorithm algorithm) {
        return alltoall(context, both.from.data(), 100'000, MPI_BYTE, both.to.data(), 100'000, MPI_BYTE, by(algorithm));
    };
    auto const peers = static_cast<std::uint64_t>(context.size() - 1);
    EXPECT_EQ(run(AlltoallAlgorithm::plain).algorithm, AlltoallAlgorithm::plain);
    EXPECT_EQ(run(AlltoallAlgorithm::log_step).algorithm, AlltoallAlgorithm::window);  // too large for it
    AlltoallOutcome const window = run(AlltoallAlgorithm::window);
    EXPECT_EQ(window.messages, peers);
    AlltoallOutcome const pull = run(AlltoallAlgorithm::pull);
    bool const one_node = engine::ContextState::of(context).is_one_node() && peers > 0;
    EXPECT_EQ(pull.algorithm, one_node ? AlltoallAlgorithm::pull : AlltoallAlgorithm::window);
    EXPECT_EQ(pull.pulled + pull.messages, peers);
    Settings settings;
    settings.transport = Transport::message;
    Context by_messages(MPI_COMM_WORLD, settings);
    AlltoallOutcome const sent = alltoall(by_messages, both.from.data(), 100'000, MPI_BYTE, both.to.data(), 100'000,
                                          MPI_BYTE, by(AlltoallAlgorithm::pull));
    EXPECT_EQ(sent.pulled, 0U);
    Both small(context, 64);
    AlltoallOutcome const steps = alltoall(context, small.from.data(), 64, MPI_BYTE, small.to.data(), 64, MPI_BYTE,
                                           by(AlltoallAlgorithm::log_step));
    if (context.size() > 2) {
        EXPECT_EQ(steps.algorithm, AlltoallAlgorithm::log_step);
        EXPECT_EQ(steps.messages, static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(peers))));
    }
    EXPECT_NE(steps.text().find(std::string(name_of(steps.algorithm))), std::string::npos);
}

}  // namespace
}  // namespace sluice::tests
