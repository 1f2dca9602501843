// SPDX-License-Identifier: BSD-3-Clause
/// Redistribution with an inverse that the caller gives: what is right moves without a message of addresses, and what
/// is wrong is one error on all ranks that leaves the array as it was.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/context_state.hpp"
#include "sluice/allocate.hpp"
#include "sluice/packed_plan.hpp"
#include "sluice/rank_plan.hpp"
#include "sluice/redistribute.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

/// A random map, which all ranks know. Ranks have arrays of different lengths, and some blocks and slots are free.
class KnownMap {
  public:
    KnownMap(int ranks, unsigned seed, std::uint64_t most) {
        std::mt19937_64 random(seed);
        std::vector<Destination> addresses;
        for (int rank = 0; rank < ranks; ++rank) {
            std::uint64_t const slots = most - (random() % (most / 2 + 1));
            to_.emplace_back(slots, free_block);
            from_.emplace_back(slots, free_block);
            for (std::uint64_t slot = 0; slot < slots; ++slot)
                addresses.push_back({rank, static_cast<std::int64_t>(slot)});
        }
        std::vector<Destination> targets = addresses;
        std::shuffle(targets.begin(), targets.end(), random);
        for (std::size_t i = 0; i < addresses.size(); ++i) {
            if (random() % 8 == 0) continue;
            at(to_, addresses[i]) = targets[i];
            at(from_, targets[i]) = addresses[i];
        }
    }

    std::vector<Destination> const& destinations(int rank) const { return to_[static_cast<std::size_t>(rank)]; }
    std::vector<Destination>& sources(int rank) { return from_[static_cast<std::size_t>(rank)]; }

  private:
    using Lists = std::vector<std::vector<Destination>>;
    static Destination& at(Lists& lists, Destination const& address) {
        return lists[static_cast<std::size_t>(address.rank)][static_cast<std::size_t>(address.index)];
    }
    Lists to_;
    Lists from_;
};

std::uint64_t id_of(Destination const& address) {
    return (static_cast<std::uint64_t>(address.rank) << 32) + static_cast<std::uint64_t>(address.index);
}

class Inverses : public testing::Test {
  protected:
    explicit Inverses(Settings const& settings = {})
        : context_(MPI_COMM_WORLD, settings), rank_(context_.rank()), ranks_(context_.size()) {}

    static InverseFunction listed(std::vector<Destination> const& sources) {
        return [&sources](std::uint64_t slot) { return sources[slot]; };
    }
    std::vector<std::uint64_t> ids(std::uint64_t count) const {
        std::vector<std::uint64_t> array(count);
        for (std::uint64_t i = 0; i < count; ++i)
            array[i] = id_of({rank_, static_cast<std::int64_t>(i)});
        return array;
    }
    template <typename Array>
    static void expect_moved(Array const& array, std::vector<Destination> const& sources) {
        for (std::size_t slot = 0; slot < sources.size(); ++slot) {
            if (sources[slot].rank < 0) continue;
            ASSERT_EQ(array[slot], id_of(sources[slot])) << "slot " << slot;
        }
    }
    RedistributionReport move(KnownMap& map, std::optional<Strategy> strategy = std::nullopt) {
        std::vector<Destination> const& to = map.destinations(rank_);
        std::vector<std::uint64_t> array = ids(to.size());
        RedistributionReport const report =
            redistribute(context_, blocks_of(array), to, {strategy, 32_KiB, listed(map.sources(rank_))});
        if (report.strategy == Strategy::token && strategy != Strategy::automatic) {
            EXPECT_LE(report.extra_peak.count,
                      (32U << 10) + 16 + addresses_a_slot_ * to.size() + 64 * static_cast<std::uint64_t>(ranks_));
        }
        expect_moved(array, map.sources(rank_));
        return report;
    }
    static std::uint64_t counter(RedistributionReport const& report, std::string_view name) {
        for (CounterValue const& value : report.counters)
            if (value.name == name) return value.value;
        return 0;
    }
    static std::optional<ErrorCode> code_of(std::function<void()> const& call, std::string const& says) {
        try {
            call();
        } catch (Error const& error) {
            EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
            return error.code();
        }
        return std::nullopt;
    }
    /// Expects that the sources, which `spoil` makes wrong on the last rank, are refused on all ranks.
    void expect_refused(std::function<void(std::vector<Destination>& sources)> const& spoil, std::string const& says) {
        for (unsigned seed = 1; seed <= 3; ++seed) {
            KnownMap map(ranks_, seed, 60);
            KnownMap right = map;
            if (rank_ == ranks_ - 1) spoil(map.sources(rank_));
            std::vector<Destination> const& to = map.destinations(rank_);
            std::vector<std::uint64_t> array = ids(to.size());
            RedistributeOptions const options{std::nullopt, std::nullopt, listed(map.sources(rank_))};
            EXPECT_EQ(code_of([&] { redistribute(context_, blocks_of(array), to, options); }, says),
                      ErrorCode::invalid_argument);
            EXPECT_EQ(array, ids(to.size()));
            EXPECT_EQ(code_of([&] { Plan(context_, to.size(), to, options); }, says), ErrorCode::invalid_argument);
            move(right);
        }
    }
    /// A slot that a block comes to.
    static std::size_t filled(std::vector<Destination> const& sources, std::size_t from = 0) {
        while (sources[from].rank < 0)
            ++from;
        return from;
    }

    Context context_;
    int rank_;
    int ranks_;
    std::uint64_t addresses_a_slot_ = 5;  // bytes
};

TEST_F(Inverses, move_random_maps) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        KnownMap map(ranks_, seed, seed % 4 == 0 ? 3 : 500);
        move(map);
    }
}

TEST_F(Inverses, work_with_each_strategy) {
    KnownMap map(ranks_, 5, 60);
    for (Strategy const strategy :
         {Strategy::token, Strategy::parking, Strategy::cyclic, Strategy::alltoallv, Strategy::automatic})
        move(map, strategy);
}

TEST_F(Inverses, move_large_blocks_of_a_plan_and_of_a_rule) {
    struct Block {
        std::uint64_t id;
        char filler[5000];
    };
    KnownMap map(ranks_, 6, 40);
    std::vector<Destination> const& to = map.destinations(rank_);
    std::vector<Destination> const& from = map.sources(rank_);
    std::vector<std::uint64_t> small = ids(to.size());
    std::vector<Block> large(to.size());
    auto const fill = [&] {
        for (std::size_t i = 0; i < large.size(); ++i)
            large[i].id = id_of({rank_, static_cast<std::int64_t>(i)});
    };
    auto const check = [&] {
        for (std::size_t slot = 0; slot < from.size(); ++slot)
            if (from[slot].rank >= 0) {
                ASSERT_EQ(large[slot].id, id_of(from[slot]));
            }
    };
    fill();
    Plan plan = Plan::computed(context_, to.size(), [&](std::uint64_t block) { return to[block]; },
                               {std::nullopt, std::nullopt, listed(from)});
    plan.apply(std::vector<Blocks>{blocks_of(small), blocks_of(large)});
    expect_moved(small, from);
    check();
    fill();
    redistribute(context_, blocks_of(large), [&](std::uint64_t block, std::span<std::byte const>) { return to[block]; },
                 {std::nullopt, std::nullopt, listed(from)});
    check();
}

TEST_F(Inverses, move_arrays_that_ranks_share) {
    KnownMap map(ranks_, 7, 200);
    std::vector<Destination> const& to = map.destinations(rank_);
    std::vector<Destination>& from = map.sources(rank_);
    NodeVector<std::uint64_t> array = allocate<std::uint64_t>(context_, to.size());
    std::vector<std::uint64_t> const before = ids(to.size());
    std::copy(before.begin(), before.end(), array.begin());
    RedistributeOptions const options{std::nullopt, std::nullopt, listed(from)};
    std::size_t const one = filled(from);
    std::size_t const other = filled(from, one + 1);
    std::swap(from[one], from[other]);
    EXPECT_EQ(code_of([&] { redistribute(context_, blocks_of(array), to, options); }, "does not invert"),
              ErrorCode::invalid_argument);
    EXPECT_TRUE(std::equal(before.begin(), before.end(), array.begin()));
    std::swap(from[one], from[other]);
    redistribute(context_, blocks_of(array), to, options);
    expect_moved(array, from);
}

TEST_F(Inverses, are_asked_once_for_each_slot) {
    KnownMap map(ranks_, 8, 300);
    std::vector<Destination> const& to = map.destinations(rank_);
    std::vector<std::uint64_t> array = ids(to.size());
    std::vector<int> asked(to.size(), 0);
    redistribute(context_, blocks_of(array), to, {std::nullopt, std::nullopt, [&](std::uint64_t slot) {
                                                      ++asked[slot];
                                                      return map.sources(rank_)[slot];
                                                  }});
    EXPECT_EQ(asked, std::vector<int>(to.size(), 1));
}

TEST_F(Inverses, are_refused_if_two_slots_are_swapped) {
    expect_refused(
        [](std::vector<Destination>& sources) {
            std::size_t const one = filled(sources);
            std::swap(sources[one], sources[filled(sources, one + 1)]);
        },
        "does not invert");
}

TEST_F(Inverses, are_refused_if_a_slot_is_missing_or_one_too_many_is_filled) {
    expect_refused([](std::vector<Destination>& sources) { sources[filled(sources)] = free_block; }, "does not invert");
    expect_refused(
        [](std::vector<Destination>& sources) {
            auto const empty = std::find(sources.begin(), sources.end(), free_block);
            auto const at = empty == sources.end() ? sources.begin() : empty;
            std::size_t const one = filled(sources);
            *at = sources[filled(sources, one + 1)];
            sources[one] = sources[filled(sources, one + 1)];
        },
        "does not invert");
}

TEST_F(Inverses, are_refused_for_an_index_that_only_another_rank_has) {
    // The source has 20 slots, this rank 40.
    std::uint64_t const slots = rank_ == 0 ? 20 : 40;
    std::vector<Destination> to(slots, free_block);
    std::vector<Destination> from(slots, free_block);
    if (rank_ == ranks_ - 1) from[0] = {0, 19 + (ranks_ > 1 ? 1 : 0)};
    std::vector<std::uint64_t> array = ids(slots);
    EXPECT_EQ(code_of(
                  [&] {
                      redistribute(context_, blocks_of(array), to, {std::nullopt, std::nullopt, listed(from)});
                  },
                  "does not invert"),
              ErrorCode::invalid_argument);
    EXPECT_EQ(array, ids(slots));
}

TEST_F(Inverses, are_refused_for_addresses_that_cannot_be) {
    expect_refused([](std::vector<Destination>& sources) { sources[1] = {0, 1000000}; }, "no rank has more than");
    expect_refused([this](std::vector<Destination>& sources) { sources[1] = {ranks_, 0}; }, "there are");
    expect_refused([](std::vector<Destination>& sources) { sources[1] = {0, -1}; }, "indices start at 0");
}

TEST_F(Inverses, do_not_hide_two_blocks_with_one_destination) {
    std::vector<Destination> to(10, free_block);
    std::vector<Destination> from(10, free_block);
    to[3] = to[4] = {rank_, 5};
    from[5] = {rank_, 3};
    std::vector<std::uint64_t> array = ids(10);
    EXPECT_EQ(code_of(
                  [&] {
                      redistribute(context_, blocks_of(array), to, {std::nullopt, std::nullopt, listed(from)});
                  },
                  "name an address twice"),
              ErrorCode::invalid_argument);
    EXPECT_EQ(array, ids(10));
    to[4] = {ranks_, 0};
    EXPECT_EQ(code_of(
                  [&] {
                      redistribute(context_, blocks_of(array), to, {std::nullopt, std::nullopt, listed(from)});
                  },
                  "block 4 of rank 0"),
              ErrorCode::invalid_argument);
}

TEST_F(Inverses, may_not_throw) {
    KnownMap map(ranks_, 9, 20);
    std::vector<Destination> const& to = map.destinations(rank_);
    std::vector<std::uint64_t> array = ids(to.size());
    RedistributeOptions options;
    options.inverse = [&](std::uint64_t slot) -> Destination {
        if (rank_ == ranks_ - 1 && slot == 7) throw std::runtime_error("seven");
        return map.sources(rank_)[slot];
    };
    EXPECT_EQ(code_of([&] { redistribute(context_, blocks_of(array), to, options); }, "threw: seven"),
              ErrorCode::invalid_argument);
    EXPECT_EQ(array, ids(to.size()));
}

SLUICE_NEEDS_RANKS(2, Inverses, are_given_on_all_ranks_or_on_none);
TEST_F(Inverses, are_given_on_all_ranks_or_on_none) {
    KnownMap map(ranks_, 10, 20);
    std::vector<Destination> const& to = map.destinations(rank_);
    std::vector<std::uint64_t> array = ids(to.size());
    RedistributeOptions options;
    if (rank_ == 0) options.inverse = listed(map.sources(rank_));
    EXPECT_EQ(code_of([&] { redistribute(context_, blocks_of(array), to, options); }, "inverse differs"),
              ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { Plan(context_, to.size(), to, options); }, "inverse differs"), ErrorCode::invalid_argument);
}

TEST_F(Inverses, are_refused_where_the_library_chooses_the_slots) {
    std::vector<int> const ranks(5, rank_);
    std::vector<std::uint64_t> const sizes(5, 1);
    std::vector<Destination> const nothing(5, free_block);
    RankPlanOptions options;
    options.redistribute.inverse = listed(nothing);
    EXPECT_EQ(code_of([&] { RankPlan(context_, ranks, options); }, "chooses their slots"), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of(
                  [&] {
                      PackedPlan(context_, {sizes, ranks}, options.redistribute);
                  },
                  "chooses their slots"),
              ErrorCode::invalid_argument);
}

TEST_F(Inverses, are_one_error_on_all_ranks_whichever_allocation_fails) {
    KnownMap map(ranks_, 11, 40);
    std::vector<Destination> const& to = map.destinations(rank_);
    RedistributeOptions const options{std::nullopt, std::nullopt, listed(map.sources(rank_))};
    move(map);
    memory::Meter& meter = engine::ContextState::of(context_).meter();
    bool went_through = false;
    for (std::uint64_t allowed = 0; allowed < 200 && !went_through; ++allowed) {
        std::vector<std::uint64_t> array = ids(to.size());
        if (rank_ == ranks_ - 1) meter.fail_after(allowed);
        auto const code = code_of([&] { redistribute(context_, blocks_of(array), to, options); }, "no memory");
        meter.never_fail();
        int refused = code ? 1 : 0;
        MPI_Allreduce(MPI_IN_PLACE, &refused, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        ASSERT_EQ(refused, code ? ranks_ : 0) << "when allocation " << allowed << " fails";
        went_through = !code;
        if (code) {
            ASSERT_EQ(array, ids(to.size()));
        }
    }
    EXPECT_TRUE(went_through);
}

class InversesByMessage : public Inverses {
  protected:
    explicit InversesByMessage(char const* check = "off") : Inverses(by_message(check)) {}
    static Settings by_message(char const* check) {
        Settings settings;
        settings.set("transport", "message");
        settings.set("check", check);
        return settings;
    }
    void expect_address_messages(bool with_inverse, bool some) {
        KnownMap map(ranks_, 12, 500);
        std::vector<Destination> const& to = map.destinations(rank_);
        std::vector<std::uint64_t> array = ids(to.size());
        RedistributeOptions options;
        if (with_inverse) options.inverse = listed(map.sources(rank_));
        RedistributionReport const report = redistribute(context_, blocks_of(array), to, options);
        expect_moved(array, map.sources(rank_));
        EXPECT_EQ(counter(report, "addresses.messages") > 0, some);
    }
};

TEST_F(InversesByMessage, make_messages_of_addresses_needless) {
    expect_address_messages(false, ranks_ > 1);
    expect_address_messages(true, false);
}

class InversesThatAreChecked : public InversesByMessage {
  protected:
    InversesThatAreChecked() : InversesByMessage("data") { addresses_a_slot_ = 16; }
};

TEST_F(InversesThatAreChecked, are_compared_with_what_ranks_tell_each_other) {
    expect_address_messages(true, ranks_ > 1);
    KnownMap map(ranks_, 5, 60);
    for (Strategy const strategy :
         {Strategy::token, Strategy::parking, Strategy::cyclic, Strategy::alltoallv, Strategy::automatic})
        move(map, strategy);
}

TEST_F(InversesThatAreChecked, are_refused_with_the_slot_that_is_wrong) {
    expect_refused(
        [](std::vector<Destination>& sources) {
            sources[1] = {0, 1000000};
        },
        "the block for slot 1 of rank " + std::to_string(ranks_ - 1) + " comes from rank 0, index 1000000");
    expect_refused([](std::vector<Destination>& sources) { sources[filled(sources)] = free_block; },
                   "comes from nowhere; by the destinations it comes from rank");
}

}  // namespace
}  // namespace sluice::tests
