// SPDX-License-Identifier: BSD-3-Clause
/// Bad input, on one rank or on all: every rank throws the same error, no byte is changed, no rank hangs, and the
/// context still works.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fault/refusal.hpp"
#include "sluice/redistribute.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {

namespace {

class BadInput : public testing::TestWithParam<Strategy> {
  protected:
    BadInput() : context_(MPI_COMM_WORLD, Settings{}), bed_(context_) { options_.strategy = GetParam(); }

    /// Passes a valid map that `spoil` changes, on the last rank alone and then on all ranks.
    template <typename Spoil>
    void expect_map_refused(Spoil spoil, std::vector<std::string> const& words) {
        for (bool const everywhere : {false, true}) {
            std::vector<Destination> map = bed_.next_rank();
            if (everywhere || bed_.last()) spoil(map);
            bed_.expect_refused([&] { redistribute(context_, bed_.blocks(), map, options_); },
                                ErrorCode::invalid_argument, words);
            if (everywhere) continue;
            bed_.expect_refused([&] { Plan(context_, bed_.count(), map, options_); }, ErrorCode::invalid_argument,
                                words);
            bed_.expect_refused(
                [&] {
                    redistribute(
                        context_, bed_.blocks(), [&](std::uint64_t index, auto) { return map[index]; }, options_);
                },
                ErrorCode::invalid_argument, words);
        }
        bed_.expect_working(GetParam());
    }

    /// Passes an array that `spoil` changes, on the last rank alone and then on all ranks.
    template <typename Spoil>
    void expect_array_refused(Spoil spoil, std::vector<std::string> const& words) {
        for (bool const everywhere : {false, true}) {
            Blocks blocks = bed_.blocks();
            if (everywhere || bed_.last()) spoil(blocks);
            bed_.expect_refused([&] { redistribute(context_, blocks, bed_.next_rank(), options_); },
                                ErrorCode::invalid_argument, words);
        }
        bed_.expect_working(GetParam());
    }

    Context context_;
    RedistributeOptions options_;
    Bed bed_;
};

}  // namespace

/// A rule that counts its calls answers differently each time.
TEST_P(BadInput, names_a_rule_that_answers_differently_at_a_second_call) {
    Settings settings;
    settings.check = CheckedCalls::data;
    Context checking(MPI_COMM_WORLD, settings);
    std::vector<Destination> const map = bed_.next_rank();
    int calls_for_3 = 0;
    auto const rule = [&](std::uint64_t index) {
        Destination to = map[index];
        if (bed_.last() && index == 3) to.index += calls_for_3++;
        return to;
    };
    auto const answer = [&](int added) {
        return "index " + std::to_string(map[3].index + added) + " of rank 0";  // the last rank sends to the first
    };
    std::vector<std::string> const words{"of rank " + std::to_string(bed_.ranks() - 1), "block 3", "first " + answer(0),
                                         "then " + answer(1), "setting check"};
    bed_.expect_refused(
        [&] {
            redistribute(
                checking, bed_.blocks(), [&](std::uint64_t index, auto) { return rule(index); }, options_);
        },
        ErrorCode::invalid_argument, words);
    calls_for_3 = 0;
    bed_.expect_refused([&] { Plan::computed(checking, bed_.count(), rule, options_); }, ErrorCode::invalid_argument,
                        words);
    bed_.expect_working(GetParam());
}

TEST_P(BadInput, names_a_rank_that_does_not_exist) {
    int const ranks = bed_.ranks();
    expect_map_refused([=](auto& map) { map[3] = {ranks, 0}; }, {"block 3", "rank " + std::to_string(ranks)});
    expect_map_refused([](auto& map) { map[0] = {std::numeric_limits<int>::max(), 0}; }, {"2147483647"});
}

TEST_P(BadInput, names_an_index_behind_the_array) {
    expect_map_refused([](auto& map) { map[5].index = 40; }, {"block 5", "index 40"});
    expect_map_refused([](auto& map) { map[39].index = std::numeric_limits<std::int64_t>::max(); },
                       {"9223372036854775807"});
}

TEST_P(BadInput, names_a_negative_index) {
    expect_map_refused([](auto& map) { map[7].index = -1; }, {"block 7", "index -1"});
}

TEST_P(BadInput, names_two_blocks_of_one_rank_for_one_address) {
    expect_map_refused([](auto& map) { map[8] = map[9]; }, {"block 9", "index 9", "goes there too"});
}

SLUICE_NEEDS_RANKS(2, BadInput, names_two_ranks_for_one_address);
TEST_P(BadInput, names_two_ranks_for_one_address) {
    bool const last = bed_.last();
    int const rank = bed_.rank();
    expect_map_refused(
        [=](auto& map) {
            if (last || rank == 0) map[0] = {0, 11};
        },
        {"index 11"});
}

SLUICE_NEEDS_RANKS(2, BadInput, says_when_more_blocks_come_than_fit);
TEST_P(BadInput, says_when_more_blocks_come_than_fit) {
    std::int64_t const first = bed_.rank() * 40;
    expect_map_refused(
        [=](auto& map) {
            for (std::size_t i = 0; i < map.size(); ++i)
                map[i] = {0, first + static_cast<std::int64_t>(i)};
        },
        {"rank 0"});
}

TEST_P(BadInput, counts_a_list_that_is_longer_than_the_array) {
    for (bool const everywhere : {false, true}) {
        std::vector<Destination> map = bed_.next_rank();
        if (everywhere || bed_.last()) map.push_back(free_block);
        bed_.expect_refused([&] { redistribute(context_, bed_.blocks(), map, options_); }, ErrorCode::invalid_argument,
                            {"41", "40"});
        bed_.expect_refused([&] { Plan(context_, bed_.count(), map, options_); }, ErrorCode::invalid_argument,
                            {"41", "40"});
    }
    bed_.expect_working(GetParam());
}

TEST_P(BadInput, says_that_a_pointer_is_null) {
    expect_array_refused([](Blocks& blocks) { blocks.data = nullptr; }, {"null", "40"});
}

TEST_P(BadInput, says_that_blocks_of_no_bytes_are_no_blocks) {
    expect_array_refused([](Blocks& blocks) { blocks.block_bytes = {}; }, {"block_bytes"});
}

TEST_P(BadInput, says_that_a_size_does_not_fit_into_memory) {
    expect_array_refused([](Blocks& blocks) { blocks.block_bytes = {std::uint64_t{1} << 62}; },
                         {std::to_string(std::uint64_t{1} << 62)});
    expect_array_refused([](Blocks& blocks) { blocks.count = std::uint64_t{1} << 60; },
                         {std::to_string(std::uint64_t{1} << 60)});
}

TEST_P(BadInput, says_that_the_function_is_empty) {
    for (bool const everywhere : {false, true}) {
        DestinationFunction function;
        if (!everywhere && !bed_.last())
            function = [this](std::uint64_t index, auto) { return bed_.next_rank()[index]; };
        bed_.expect_refused([&] { redistribute(context_, bed_.blocks(), function, options_); },
                            ErrorCode::invalid_argument, {"function"});
    }
    bed_.expect_working(GetParam());
}

SLUICE_NEEDS_RANKS(2, BadInput, says_that_block_sizes_differ_between_ranks);
TEST_P(BadInput, says_that_block_sizes_differ_between_ranks) {
    Blocks blocks = bed_.blocks();
    if (bed_.last()) blocks.block_bytes = 12_B;
    bed_.expect_refused([&] { redistribute(context_, blocks, bed_.next_rank(), options_); },
                        ErrorCode::invalid_argument, {"block_bytes", "12", "24"});
    bed_.expect_refused(
        [&] {
            Plan plan(context_, bed_.count(), bed_.next_rank(), options_);
            plan.apply(blocks);
        },
        ErrorCode::invalid_argument, {"block_bytes", "12", "24"});
    bed_.expect_working(GetParam());
}

SLUICE_NEEDS_RANKS(2, BadInput, says_that_the_staging_differs_between_ranks);
TEST_P(BadInput, says_that_the_staging_differs_between_ranks) {
    RedistributeOptions options = options_;
    options.staging = bed_.last() ? Bytes{8192} : Bytes{16384};
    bed_.expect_refused([&] { redistribute(context_, bed_.blocks(), bed_.next_rank(), options); },
                        ErrorCode::invalid_argument, {"staging differs: rank 0 has 16 KiB, rank ", " 8 KiB"});
    bed_.expect_working(GetParam());
}

SLUICE_NEEDS_RANKS(2, BadInput, says_that_the_strategy_differs_between_ranks);
TEST_P(BadInput, says_that_the_strategy_differs_between_ranks) {
    RedistributeOptions options = options_;
    if (bed_.last()) options.strategy = GetParam() == Strategy::parking ? Strategy::cyclic : Strategy::parking;
    bed_.expect_refused([&] { redistribute(context_, bed_.blocks(), bed_.next_rank(), options); },
                        ErrorCode::invalid_argument,
                        {"strategy differs: rank 0 has " + std::string(name_of(GetParam())) + ", rank ",
                         std::string(" ") + std::string(name_of(*options.strategy))});
    bed_.expect_working(GetParam());
}

TEST_P(BadInput, says_that_an_array_does_not_fit_its_plan) {
    Plan plan(context_, bed_.count(), bed_.next_rank(), options_);
    Blocks blocks = bed_.blocks();
    if (bed_.last()) --blocks.count;
    bed_.expect_refused([&] { plan.apply(blocks); }, ErrorCode::invalid_argument, {"39", "40"});
    bed_.expect_working(GetParam());
}

SLUICE_NEEDS_RANKS(2, BadInput, says_that_ranks_bring_different_numbers_of_arrays);
TEST_P(BadInput, says_that_ranks_bring_different_numbers_of_arrays) {
    Plan plan(context_, bed_.count(), bed_.next_rank(), options_);
    std::vector<Blocks> const arrays(bed_.last() ? 2 : 1, bed_.blocks());
    bed_.expect_refused([&] { plan.apply(arrays); }, ErrorCode::invalid_argument, {"arrays"});
    bed_.expect_working(GetParam());
}

// The checks precede the strategies; these three strategies take the three kinds of maps: inverse, forward, both.
INSTANTIATE_TEST_SUITE_P(Redistribute, BadInput,
                         testing::Values(Strategy::token, Strategy::alltoallv, Strategy::automatic),
                         strategy_test_name);

namespace {

/// Expects that all ranks refuse to make a Context of `settings` with the same error.
void expect_no_context(Settings const& settings, std::string const& word) {
    Context valid(MPI_COMM_WORLD, Settings{});
    Bed bed(valid);
    bed.expect_refused([&] { Context(MPI_COMM_WORLD, settings); }, ErrorCode::invalid_argument, {word});
    bed.expect_working(Strategy::token);
}

bool on_last_rank() {
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return rank == ranks - 1;
}

}  // namespace

TEST(BadSettings, out_of_range_on_one_rank_are_refused_on_all) {
    Settings settings;
    if (on_last_rank()) settings.staging = {1};
    expect_no_context(settings, "staging");
}

SLUICE_NEEDS_RANKS(2, BadSettings, that_differ_between_ranks_are_refused_on_all);
TEST(BadSettings, that_differ_between_ranks_are_refused_on_all) {
    Settings settings;
    if (on_last_rank()) settings.transport = Transport::message;
    expect_no_context(settings, "transport");
}

}  // namespace sluice::tests
