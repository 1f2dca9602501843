// SPDX-License-Identifier: BSD-3-Clause
/// Arrays of sluice::allocate: redistributed without messages, and as any other array where something is refused on one
/// rank alone.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/context_state.hpp"
#include "groups/agree.hpp"
#include "sluice/allocate.hpp"
#include "sluice/rank_plan.hpp"
#include "sluice/redistribute.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {

namespace {

constexpr std::string_view k_mapped = "arrays that all ranks of the node map";

class SharedArrays : public testing::Test {
  protected:
    explicit SharedArrays(Settings const& settings = Settings::from_environment())
        : context_(MPI_COMM_WORLD, settings), rank_(context_.rank()), ranks_(context_.size()) {}

    static constexpr std::uint64_t k_slots = 300;

    node::ArrayMemory& memory() { return *engine::ContextState::of(context_).process().arrays(); }
    /// A random permutation of the blocks of all ranks, the same on all of them.
    std::vector<std::uint64_t> permutation(unsigned seed) const {
        std::vector<std::uint64_t> all(k_slots * static_cast<std::uint64_t>(ranks_));
        std::iota(all.begin(), all.end(), 0);
        std::shuffle(all.begin(), all.end(), std::mt19937_64(seed));
        return all;
    }
    std::vector<Destination> destinations(std::vector<std::uint64_t> const& all) const {
        std::vector<Destination> mine;
        for (std::uint64_t i = 0; i < k_slots; ++i) {
            std::uint64_t const to = all[static_cast<std::uint64_t>(rank_) * k_slots + i];
            mine.push_back({static_cast<int>(to / k_slots), static_cast<std::int64_t>(to % k_slots)});
        }
        return mine;
    }
    template <typename Vector>
    void fill(Vector& array) const {
        std::iota(array.begin(), array.end(), static_cast<std::uint64_t>(rank_) * k_slots);
    }
    template <typename Vector>
    void expect_moved(Vector const& array, std::vector<std::uint64_t> const& all) const {
        for (std::uint64_t from = 0; from < all.size(); ++from) {
            if (all[from] / k_slots != static_cast<std::uint64_t>(rank_)) continue;
            ASSERT_EQ(array[all[from] % k_slots], from);
        }
    }
    RedistributionReport move(NodeVector<std::uint64_t>& array, unsigned seed) {
        auto const all = permutation(seed);
        fill(array);
        RedistributionReport const report = redistribute(context_, blocks_of(array), destinations(all));
        expect_moved(array, all);
        return report;
    }
    bool is_mapped(RedistributionReport const& report) const { return report.why.find(k_mapped) != std::string::npos; }
    static std::uint64_t counter(RedistributionReport const& report, std::string_view name) {
        for (CounterValue const& value : report.counters)
            if (value.name == name) return value.value;
        return 0;
    }
    std::string error_of(std::function<void()> const& call) {
        try {
            call();
        } catch (Error const& error) {
            return error.what();
        }
        return "no error";
    }
    bool is_last() const { return rank_ == ranks_ - 1; }

    Context context_;
    int rank_;
    int ranks_;
};

}  // namespace

TEST_F(SharedArrays, are_vectors) {
    auto array = allocate<std::uint64_t>(context_, k_slots);
    EXPECT_EQ(std::count(array.begin(), array.end(), 0U), static_cast<std::ptrdiff_t>(k_slots));
    EXPECT_TRUE(is_shared(context_, array.data()));
    array.push_back(7);
    EXPECT_TRUE(is_shared(context_, array.data()));
    NodeVector<std::uint64_t> const moved = std::move(array);
    EXPECT_EQ(moved.back(), 7U);
    NodeVector<std::uint64_t> const copy = moved;
    EXPECT_EQ(copy, moved);
    std::vector<int> const own(3);
    EXPECT_FALSE(is_shared(context_, own.data()));
    EXPECT_TRUE(allocate<int>(context_, 0).empty());
}

TEST_F(SharedArrays, that_were_moved_from_are_empty_vectors) {
    auto array = allocate<std::uint64_t>(context_, k_slots);
    auto const moved = std::move(array);
    array.clear();  // NOLINT(bugprone-use-after-move): that is what is tested
    array.push_back(5);
    EXPECT_EQ(array, NodeVector<std::uint64_t>(1, 5, moved.get_allocator()));
    EXPECT_TRUE(is_shared(context_, array.data()));
    NodeVector<std::uint64_t> assigned(moved.get_allocator());
    assigned = std::move(array);
    array.assign(3, 7);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(array.size(), 3U);
    EXPECT_TRUE(is_shared(context_, array.data()));
    auto allocator = moved.get_allocator();
    auto const other = std::move(allocator);
    EXPECT_EQ(allocator, other);  // NOLINT(bugprone-use-after-move)
}

SLUICE_NEEDS_RANKS(2, SharedArrays, move_without_messages);
TEST_F(SharedArrays, move_without_messages) {
    auto array = allocate<std::uint64_t>(context_, k_slots);
    for (unsigned seed = 0; seed < 5; ++seed) {
        RedistributionReport const report = move(array, seed);
        EXPECT_TRUE(is_mapped(report)) << report.why;
        for (char const* const name : {"addresses.messages", "node.ring_pieces", "node.read_pieces"})
            EXPECT_EQ(counter(report, name), 0U) << name;
        EXPECT_EQ(report.requests_peak, 0U);
    }
}

TEST_F(SharedArrays, outlive_the_context_that_they_were_made_with) {
    auto context = std::make_unique<Context>(MPI_COMM_WORLD);
    auto array = allocate<std::uint64_t>(*context, k_slots);
    context.reset();
    RedistributionReport const report = move(array, 3);
    EXPECT_EQ(is_mapped(report), ranks_ > 1) << report.why;
}

SLUICE_NEEDS_RANKS(2, SharedArrays, move_as_other_arrays_if_one_rank_has_private_memory);
TEST_F(SharedArrays, move_as_other_arrays_if_one_rank_has_private_memory) {
    if (is_last()) memory().fail_shared(1);
    auto array = allocate<std::uint64_t>(context_, k_slots);
    EXPECT_EQ(is_shared(context_, array.data()), !is_last());
    EXPECT_FALSE(is_mapped(move(array, 1)));
    auto shared = allocate<std::uint64_t>(context_, k_slots);
    EXPECT_TRUE(is_mapped(move(shared, 2)));
}

SLUICE_NEEDS_RANKS(2, SharedArrays, move_as_other_arrays_if_one_rank_cannot_map_a_peer);
TEST_F(SharedArrays, move_as_other_arrays_if_one_rank_cannot_map_a_peer) {
    auto array = allocate<std::uint64_t>(context_, k_slots);
    if (is_last()) memory().fail_of_peers(1);  // the array of rank 0
    EXPECT_FALSE(is_mapped(move(array, 1)));
    EXPECT_TRUE(is_mapped(move(array, 2)));
    if (is_last()) memory().fail_shared(1);  // the map of this rank
    EXPECT_FALSE(is_mapped(move(array, 3)));
    EXPECT_TRUE(is_mapped(move(array, 4)));
}

SLUICE_NEEDS_RANKS(2, SharedArrays, of_a_plan_move_as_other_arrays_if_one_rank_cannot_map_a_peer);
TEST_F(SharedArrays, of_a_plan_move_as_other_arrays_if_one_rank_cannot_map_a_peer) {
    auto const all = permutation(5);
    Plan plan(context_, k_slots, destinations(all));
    auto shared = allocate<std::uint64_t>(context_, k_slots);
    std::vector<std::uint64_t> own(k_slots);
    for (int round = 0; round < 6; ++round) {
        if (is_last() && round == 2) memory().fail_of_peers(static_cast<unsigned>(ranks_) - 1);
        fill(shared);
        RedistributionReport const report = plan.apply(blocks_of(shared));
        expect_moved(shared, all);
        // In round 0 the map is mapped, too; in round 2 the arrays cannot be.
        EXPECT_EQ(is_mapped(report), round != 2) << "round " << round << ": " << report.why;
        fill(own);
        EXPECT_FALSE(is_mapped(plan.apply(blocks_of(own))));
        expect_moved(own, all);
    }
}

/// A process keeps the parts of peers that it used last: those of a plan must not be among the others.
TEST_F(SharedArrays, of_a_plan_move_after_many_other_arrays) {
    auto const all = permutation(6);
    Plan plan(context_, k_slots, destinations(all));
    auto array = allocate<std::uint64_t>(context_, k_slots);
    std::size_t const calls =
        ranks_ == 1 ? 1 : node::ArrayMemory::k_most_of_peers / static_cast<std::size_t>(ranks_ - 1);
    for (int round = 0; round < 2; ++round) {
        fill(array);
        EXPECT_EQ(is_mapped(plan.apply(blocks_of(array))), ranks_ > 1);
        expect_moved(array, all);
        for (std::size_t call = 0; round == 0 && call < calls + 2; ++call) {
            auto other = allocate<std::uint64_t>(context_, 1);
            std::vector<Destination> const to{{(rank_ + 1) % ranks_, 0}};
            redistribute(context_, blocks_of(other), to);
        }
    }
}

TEST_F(SharedArrays, of_a_wrong_map_are_refused_with_the_same_words_and_unchanged) {
    auto array = allocate<std::uint64_t>(context_, k_slots);
    std::vector<std::uint64_t> own(k_slots);
    auto const all = permutation(7);
    auto const right = destinations(all);
    auto const expect_alike = [&](std::function<void(std::vector<Destination>&)> const& spoil) {
        auto wrong = right;
        if (is_last()) spoil(wrong);
        fill(array);
        fill(own);
        std::string const words = error_of([&] { redistribute(context_, blocks_of(own), wrong); });
        EXPECT_EQ(error_of([&] { redistribute(context_, blocks_of(array), wrong); }), words);
        EXPECT_NE(words, "no error");
        EXPECT_TRUE(std::equal(own.begin(), own.end(), array.begin()));
        for (std::uint64_t i = 0; i < k_slots; ++i)
            ASSERT_EQ(array[i], static_cast<std::uint64_t>(rank_) * k_slots + i);
    };
    expect_alike([&](auto& list) { list[4] = {ranks_, 0}; });
    expect_alike([&](auto& list) { list[4] = {0, static_cast<std::int64_t>(k_slots)}; });
    expect_alike([&](auto& list) { list[4] = {0, -1}; });
    expect_alike([&](auto& list) { list[4] = list[5]; });
    EXPECT_EQ(is_mapped(move(array, 8)), ranks_ > 1);
}

TEST_F(SharedArrays, move_by_rank_alone_and_grow_to_what_is_needed) {
    auto array = allocate<std::uint64_t>(context_, k_slots);
    fill(array);
    std::vector<int> const to_first(k_slots, 0);
    redistribute(context_, array, to_first, Resize::grow, {BlockOrder::by_source, std::nullopt, {}});
    ASSERT_EQ(array.size(), rank_ == 0 ? k_slots * static_cast<std::uint64_t>(ranks_) : 0U);
    EXPECT_EQ(array.capacity(), rank_ == 0 ? array.size() : k_slots);
    for (std::uint64_t i = 0; i < array.size(); ++i)
        ASSERT_EQ(array[i], i);
}

TEST_F(SharedArrays, of_which_there_are_too_many_bytes_are_an_error_that_names_rank_and_bytes) {
    std::string const text = error_of([&] { allocate<std::uint64_t>(context_, std::size_t{1} << 57); });
    EXPECT_NE(text.find("rank " + std::to_string(rank_) + " has no memory for an array of 144115188075855872 elements"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("sluice::allocate"), std::string::npos) << text;
}

TEST_F(SharedArrays, of_large_blocks_move_in_pieces) {
    constexpr std::uint64_t k_words = 100;
    struct Large {
        std::uint64_t words[k_words];
    };
    auto array = allocate<Large>(context_, k_slots);
    auto const all = permutation(9);
    for (std::uint64_t i = 0; i < k_slots; ++i)
        for (std::uint64_t word = 0; word < k_words; ++word)
            array[i].words[word] = (static_cast<std::uint64_t>(rank_) * k_slots + i) * 1000 + word;
    RedistributeOptions options;
    options.staging = 4_KiB;
    RedistributionReport const report = redistribute(context_, blocks_of(array), destinations(all), options);
    for (std::uint64_t from = 0; from < all.size(); ++from) {
        if (all[from] / k_slots != static_cast<std::uint64_t>(rank_)) continue;
        for (std::uint64_t word = 0; word < k_words; ++word)
            ASSERT_EQ(array[all[from] % k_slots].words[word], from * 1000 + word);
    }
    if (is_mapped(report)) {
        EXPECT_EQ(report.rounds, 2U);
    }
}

namespace {

/// Each process has a limit of its own.
class SharedArraysWithinALimit : public SharedArrays {
  protected:
    SharedArraysWithinALimit() : SharedArrays(with_a_limit()) {}
    static Settings with_a_limit() {
        Settings settings;
        settings.memory = 1_GiB;
        return settings;
    }
    /// What this process may lease at all: what others of the node have leased comes and goes.
    Bytes limit() {
        budget::ProcessBudget& memory = engine::ContextState::of(context_).process().memory();
        memory.look();
        return memory.budget().limit();
    }
    static std::uint64_t resident() {
        std::uint64_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages >> pages;
        return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    }
    std::uint64_t sum(std::uint64_t mine) const {
        MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        return mine;
    }
};

}  // namespace

SLUICE_NEEDS_RANKS(2, SharedArraysWithinALimit, are_counted_once_by_the_rank_that_owns_them);
TEST_F(SharedArraysWithinALimit, are_counted_once_by_the_rank_that_owns_them) {
    constexpr std::uint64_t k_bytes = 16 << 20;
    constexpr std::uint64_t k_numbers = k_bytes / sizeof(std::uint64_t);
    auto small = allocate<std::uint64_t>(context_, k_slots);
    move(small, 1);  // the context has its rings, and ranks have met
    Bytes const limit_before = limit();
    std::uint64_t const resident_before = resident();
    auto array = allocate<std::uint64_t>(context_, k_numbers);
    std::ranges::fill(array, rank_);
    auto const next = [&](std::uint64_t i, std::span<std::byte const>) {
        return Destination{(rank_ + 1) % ranks_, static_cast<std::int64_t>(k_numbers - 1 - i)};
    };
    RedistributionReport const report = redistribute(context_, blocks_of(array), next);
    ASSERT_TRUE(is_mapped(report)) << report.why;
    EXPECT_EQ(std::ranges::count(array, static_cast<std::uint64_t>((rank_ + ranks_ - 1) % ranks_)),
              static_cast<std::ptrdiff_t>(k_numbers));
    std::uint64_t const resident_by = sum(resident() - resident_before);
    Bytes const limit_after = limit();
    MPI_Barrier(MPI_COMM_WORLD);  // the arrays are there until all have looked
    EXPECT_GE(limit_before, limit_after + Bytes{k_bytes});
    EXPECT_LE(limit_before, limit_after + Bytes{k_bytes} + 4_MiB);
    // The kernel counts a page in each process that has copied to or from it.
    EXPECT_GE(resident_by, static_cast<std::uint64_t>(ranks_) * k_bytes * 3 / 2);
}

}  // namespace sluice::tests
