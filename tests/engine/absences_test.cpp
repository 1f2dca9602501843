// SPDX-License-Identifier: BSD-3-Clause
/// A rank that waits long in a collective call says for which ranks, and the program goes on when they come.
#include "engine/absences.hpp"

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/context_state.hpp"
#include "sluice/alltoall.hpp"
#include "sluice/collectives.hpp"
#include "sluice/fetch.hpp"
#include "sluice/redistribute.hpp"
#include "support/lines_of_ranks.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

constexpr double k_soon = 0.02;  // seconds

Settings with(Transport transport) {
    Settings settings = Settings::from_environment();
    settings.transport = transport;
    return settings;
}

class AbsencesTest : public testing::TestWithParam<Transport> {
  protected:
    AbsencesTest()
        : context(MPI_COMM_WORLD, with(GetParam())), rank(context.rank()), size(context.size()), last(size - 1) {
        numbers.resize(static_cast<std::size_t>(size), rank);
        for (int other = 0; other < size; ++other)
            everywhere.push_back({other, rank});
        turn();  // the first call makes the rings of the node
    }

    engine::Absences& absences() { return engine::ContextState::of(context).absences(); }
    /// Sends number i to rank i, and checks what has come.
    void turn() {
        std::vector<std::int64_t> mine(static_cast<std::size_t>(size), rank);
        redistribute(context, blocks_of(mine), everywhere);
        std::vector<std::int64_t> from(mine.size());
        std::iota(from.begin(), from.end(), 0);
        EXPECT_EQ(mine, from);
    }
    /// The last ranks make `call` only when each other rank has its line. Meanwhile they do what `instead` does until
    /// its argument returns true, or nothing. Every other rank must say that it waits in the call `for_whom`. A call
    /// that knows for whom it waits tells after a time: on a busy machine its line may name ranks that are slow to
    /// begin, too, so `for_whom` is the call alone.
    using Over = std::function<bool()>;
    void expect_line(std::function<void()> const& call, int late, std::string const& for_whom,
                     std::function<void(Over const&)> const& instead = {}, bool answers = false,
                     bool call_knows = false) {
        LinesOfRanks lines;
        std::uint64_t const lines_before = absences().lines();
        int const first_late = size - late;
        if (rank < first_late) absences().tell_after(k_soon, answers ? size - 1 : size - 1 - late);
        auto const over = [&] { return lines.are_there(0, first_late); };
        if (rank >= first_late) {
            if (instead)
                instead(over);
            else
                while (!over())
                    usleep(1000);
        }
        call();
        std::string const expected =
            rank < first_late ? "sluice: rank " + std::to_string(rank) + " has waited … s in " + for_whom : "";
        if (!call_knows || rank >= first_late) {
            EXPECT_EQ(lines.mine(), expected.empty() ? "" : expected + "\n");
        } else {
            EXPECT_EQ(lines.mine().substr(0, expected.size()), expected);
            EXPECT_TRUE(lines.mine().ends_with(" rank " + std::to_string(last) + "\n") ||
                        lines.mine().ends_with(" more\n"))
                << lines.mine();
        }
        EXPECT_EQ(absences().lines() - lines_before, rank < first_late ? 1U : 0U);
        absences().tell_after(0, -1);  // never again
        turn();
    }
    std::string rank_named(int which, std::string const& state) const {
        return "rank " + std::to_string(which) + " (" + state + ")";
    }

    Context context;
    int rank;
    int size;
    int last;
    std::vector<std::int64_t> numbers;
    std::vector<Destination> everywhere;
};

SLUICE_NEEDS_RANKS(2, AbsencesTest, of_a_rank_that_computes_are_told_in_redistribute);
TEST_P(AbsencesTest, of_a_rank_that_computes_are_told_in_redistribute) {
    expect_line([&] { turn(); }, 1,
                "redistribute for 1 rank that has not entered it: " + rank_named(last, "no answer"));
}

SLUICE_NEEDS_RANKS(2, AbsencesTest, are_told_in_plans);
TEST_P(AbsencesTest, are_told_in_plans) {
    std::optional<Plan> plan;
    expect_line([&] { plan.emplace(context, numbers.size(), everywhere); }, 1,
                "Plan for 1 rank that has not entered it: " + rank_named(last, "no answer"));
    plan->apply(blocks_of(numbers));
    EXPECT_EQ(numbers.back(), last);
}

SLUICE_NEEDS_RANKS(2, AbsencesTest, are_told_when_a_plan_is_applied_to_nothing);
TEST_P(AbsencesTest, are_told_when_a_plan_is_applied_to_nothing) {
    Plan plan(context, numbers.size(), everywhere);
    expect_line([&] { plan.apply(std::span<Blocks const>()); }, 1,
                "Plan::apply for 1 rank that has not entered it: " + rank_named(last, "no answer"));
}

SLUICE_NEEDS_RANKS(2, AbsencesTest, are_told_when_a_store_is_made);
TEST_P(AbsencesTest, are_told_when_a_store_is_made) {
    std::optional<Store> store;
    expect_line([&] { store.emplace(context); }, 1,
                "Store for 1 rank that has not entered it: " + rank_named(last, "no answer"));
}

SLUICE_NEEDS_RANKS(2, AbsencesTest, are_told_when_a_store_ends);
TEST_P(AbsencesTest, are_told_when_a_store_ends) {
    Store store(context);
    expect_line([&] { store.finish(); }, 1,
                "Store::finish for 1 rank that has not entered it: " + rank_named(last, "no answer"));
}

SLUICE_NEEDS_RANKS(2, AbsencesTest, are_told_in_an_all_to_all);
TEST_P(AbsencesTest, are_told_in_an_all_to_all) {
    expect_line([&] { alltoall_in_place(context, numbers); }, 1, "an all-to-all in place for ", {}, false, true);
    EXPECT_EQ(numbers.front(), 0);
    EXPECT_EQ(numbers.back(), last);
}

SLUICE_NEEDS_RANKS(2, AbsencesTest, are_told_in_an_all_to_all_from_buffer_to_buffer);
TEST_P(AbsencesTest, are_told_in_an_all_to_all_from_buffer_to_buffer) {
    for (AlltoallAlgorithm const algorithm : {AlltoallAlgorithm::window, AlltoallAlgorithm::pull}) {
        std::vector<std::int64_t> const mine(static_cast<std::size_t>(size), rank);
        std::vector<std::int64_t> theirs(mine.size());
        AlltoallOptions options;
        options.algorithm = algorithm;
        expect_line([&] { alltoall(context, mine, theirs, options); }, 1, "an all-to-all for ", {}, false, true);
        EXPECT_EQ(theirs.back(), last);
    }
}

SLUICE_NEEDS_RANKS(2, AbsencesTest, of_a_rank_that_waits_in_another_call_name_the_call);
TEST_P(AbsencesTest, of_a_rank_that_waits_in_another_call_name_the_call) {
    Store store(context);
    expect_line([&] { turn(); }, 1,
                "redistribute for 1 rank that has not entered it: " + rank_named(last, "in Store::wait_until"),
                [&](Over const& over) { store.wait_until(over); }, true);
    store.finish();
}

SLUICE_NEEDS_RANKS(4, AbsencesTest, of_several_ranks_are_told_together);
TEST_P(AbsencesTest, of_several_ranks_are_told_together) {
    expect_line([&] { turn(); }, 2,
                "redistribute for 2 ranks that have not entered it: " + rank_named(last - 1, "no answer") + ", " +
                    rank_named(last, "no answer"));
}

SLUICE_NEEDS_RANKS(3, AbsencesTest, of_many_ranks_are_counted_and_the_lowest_named);
TEST_P(AbsencesTest, of_many_ranks_are_counted_and_the_lowest_named) {
    constexpr int k_named = engine::Absences::k_most_named;
    std::string names;
    for (int which = 1; which <= std::min(last, k_named); ++which)
        names += (which > 1 ? ", " : "") + rank_named(which, "no answer");
    if (last > k_named) names += " and " + std::to_string(last - k_named) + " more";
    expect_line([&] { turn(); }, last,
                "redistribute for " + std::to_string(last) + " ranks that have not entered it: " + names);
}

SLUICE_NEEDS_RANKS(3, AbsencesTest, are_told_by_the_first_ranks_of_a_large_job);
TEST_P(AbsencesTest, are_told_by_the_first_ranks_of_a_large_job) {
    LinesOfRanks lines;
    if (rank != last) absences().tell_after(k_soon, size - 2, 1);
    while (rank == last && !lines.are_there(0, 1))
        usleep(1000);
    turn();
    std::string const line = "sluice: rank 0 has waited … s in redistribute for 1 rank that has not entered it: " +
                             rank_named(last, "no answer") + "\n";
    EXPECT_EQ(lines.mine(), rank == 0 ? line : "");
    turn();
}

SLUICE_NEEDS_RANKS(3, AbsencesTest, of_the_first_ranks_of_a_large_job_are_told_by_others);
TEST_P(AbsencesTest, of_the_first_ranks_of_a_large_job_are_told_by_others) {
    LinesOfRanks lines;
    if (rank != 0) absences().tell_after(k_soon, -1, 1);
    while (rank == 0 && !lines.are_there(1, size))
        usleep(1000);
    turn();
    EXPECT_EQ(lines.mine().find("rank 0 (no answer)") != std::string::npos, rank > 0) << lines.mine();
    turn();
}

SLUICE_NEEDS_RANKS(2, AbsencesTest, that_are_calls_that_do_not_match_are_an_error_on_every_rank);
TEST_P(AbsencesTest, that_are_calls_that_do_not_match_are_an_error_on_every_rank) {
    for (int round = 0; round < 3; ++round) {
        std::string text;
        try {
            if (rank == 0)
                Plan const plan(context, numbers.size(), everywhere);
            else
                turn();
        } catch (Error const& error) {
            text = error.what();
        }
        EXPECT_EQ(text, "the collective call on a context differs: rank 0 has Plan, rank 1 redistribute");
        turn();
    }
}

SLUICE_NEEDS_RANKS(2, AbsencesTest, that_end_in_an_error_leave_nothing_behind);
TEST_P(AbsencesTest, that_end_in_an_error_leave_nothing_behind) {
    auto const wrong = [&] {
        Blocks const nothing{nullptr, static_cast<std::uint64_t>(rank == last ? 1 : 0), 8_B};
        EXPECT_THROW(redistribute(context, nothing, std::span<Destination const>()), Error);
    };
    expect_line(wrong, 1, "redistribute for 1 rank that has not entered it: " + rank_named(last, "no answer"));
}

INSTANTIATE_TEST_SUITE_P(over, AbsencesTest, testing::Values(Transport::automatic, Transport::message),
                         [](auto const& transport) { return std::string(name_of(transport.param)); });

SLUICE_NEEDS_RANKS(2, AbsencesFromContext, are_told_without_names);
TEST(AbsencesFromContext, are_told_without_names) {
    Settings settings = Settings::from_environment();
    settings.waiting_told_after = 1;
    LinesOfRanks lines;
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (rank == size - 1 && !lines.are_there(0, size - 1))
        usleep(1000);
    Context const context(MPI_COMM_WORLD, settings);
    EXPECT_EQ(lines.mine(), rank == size - 1 ? ""
                                             : "sluice: rank " + std::to_string(rank) +
                                                   " has waited … s in Context for ranks that have not entered it\n");
}

}  // namespace
}  // namespace sluice::tests
