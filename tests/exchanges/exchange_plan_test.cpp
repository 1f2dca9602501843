// SPDX-License-Identifier: BSD-3-Clause
/// Exchanges that are planned: parts that stay or change, more lists than a plan knows, ranks that are ahead, errors
/// after which a plan goes on, wrong uses.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sluice/exchange.hpp"
#include "support/effort.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

class ExchangePlans : public testing::Test {
  protected:
    ExchangePlans() : context_(std::in_place, MPI_COMM_WORLD, Settings{}) {
        rank_ = context_->rank();
        ranks_ = context_->size();
    }

    static std::byte byte_of(int from, int to, int call, std::uint64_t i) {
        return static_cast<std::byte>(static_cast<std::uint64_t>(from * 7 + to * 31 + call * 101) + i * 3);
    }
    /// A part whose bytes tell from where, to where and in which call it goes.
    OutgoingPart part(int to, std::uint64_t bytes, int call) const {
        return {to, {}, Bytes{bytes}, [=, from = rank_](std::span<std::byte> out) {
                    for (std::uint64_t i = 0; i < out.size(); ++i)
                        out[i] = byte_of(from, to, call, i);
                }};
    }
    std::vector<OutgoingPart> parts(std::uint64_t bytes, int call) const {
        std::vector<OutgoingPart> all;
        for (int to = 0; to < ranks_; ++to)
            all.push_back(part(to, bytes, call));
        return all;
    }
    bool holds(int from, int call, std::span<std::byte const> bytes) const {
        for (std::uint64_t i = 0; i < bytes.size(); ++i)
            if (bytes[i] != byte_of(from, rank_, call, i)) return false;
        return true;
    }
    /// Applies the plan, and expects one whole part of `bytes` from each rank.
    ExchangeReport expect_parts(ExchangePlan& plan, std::uint64_t bytes, int call) {
        std::vector<int> came(static_cast<std::size_t>(ranks_));
        ExchangeReport const report = plan.apply(parts(bytes, call), [&](int from, FetchResult const& part) {
            EXPECT_EQ(part[0].size(), bytes);
            EXPECT_TRUE(holds(from, call, part[0])) << "from rank " << from << ", call " << call;
            ++came[static_cast<std::size_t>(from)];
        });
        EXPECT_TRUE(std::ranges::all_of(came, [](int times) { return times == 1; }));
        EXPECT_EQ(report.parts_received, static_cast<std::uint64_t>(ranks_ - 1));
        EXPECT_EQ(report.received.count, bytes * static_cast<std::uint64_t>(ranks_ - 1));
        return report;
    }
    /// What the call says if it fails.
    template <typename Call>
    static std::string said_by(Call const& call) {
        try {
            call();
        } catch (std::exception const& error) {
            return error.what();
        }
        return "";
    }

    std::optional<Context> context_;
    int rank_ = 0;
    int ranks_ = 1;
};

/// The sizes of parts from one rank to another, which all ranks can compute.
std::vector<std::uint64_t> sizes_of(int seed, int from, int to) {
    std::mt19937 random(static_cast<unsigned>((seed * 64 + from) * 64 + to));
    std::vector<std::uint64_t> all(random() % 3);
    for (std::uint64_t& bytes : all) {
        std::uint64_t const most[]{1, 100, 5000, 40'000};
        bytes = random() % most[random() % 4];
    }
    return all;
}

TEST_F(ExchangePlans, bring_random_parts_that_change_or_come_again) {
    ExchangePlan plan(*context_);
    std::mt19937 random(1);  // the same on all ranks
    for (int call = 0; call < effort(60); ++call) {
        int const seed = static_cast<int>(random() % 12);  // more lists than a plan knows
        std::vector<OutgoingPart> leaving;
        std::map<std::pair<int, std::uint64_t>, int> expected;
        for (int other = 0; other < ranks_; ++other) {
            for (std::uint64_t const bytes : sizes_of(seed, rank_, other))
                leaving.push_back(part(other, bytes, call));
            for (std::uint64_t const bytes : sizes_of(seed, other, rank_))
                if (bytes > 0) ++expected[{other, bytes}];
        }
        plan.apply(leaving, [&](int from, FetchResult const& came) {
            EXPECT_TRUE(holds(from, call, came[0])) << "from rank " << from << ", call " << call;
            --expected[{from, came[0].size()}];
        });
        for (auto const& [which, missing] : expected)
            ASSERT_EQ(missing, 0) << which.second << " bytes from rank " << which.first << ", call " << call;
    }
}

TEST_F(ExchangePlans, of_parts_that_stay_let_ranks_run_ahead) {
    ExchangePlan plan(*context_, parts(2000, 0));
    std::mt19937 random(static_cast<unsigned>(rank_));
    for (int call = 0; call < effort(100); ++call) {
        for (volatile std::uint64_t i = random() % 20'000; i > 0;)  // some ranks are late
            i = i - 1;
        expect_parts(plan, 2000, call);
    }
}

TEST_F(ExchangePlans, tell_of_each_call_alone) {
    ExchangePlan plan(*context_);
    auto const others = static_cast<std::uint64_t>(ranks_ - 1);
    EXPECT_GE(expect_parts(plan, 200'000, 0).peak.count, 200'000U);
    ExchangeReport const small = expect_parts(plan, 100, 1);
    EXPECT_LE(small.peak.count, 4 * 100 * (others + 1));
    EXPECT_EQ(small.sent.count, 100 * others);
    EXPECT_EQ(small.kept.count, 100U);
    EXPECT_EQ(small.beyond, 0U);
}

TEST_F(ExchangePlans, take_parts_in_coroutines_and_callbacks_in_turn) {
    ExchangePlan plan(*context_, parts(3000, 0));
    for (int call = 0; call < 10; call += 2) {
        int taken = 0;
        plan.apply_in_tasks(parts(3000, call), [&](int from, FetchResult came) -> Task {
            co_await yielded();
            EXPECT_TRUE(holds(from, call, came[0]));
            ++taken;
        });
        EXPECT_EQ(taken, ranks_);
        expect_parts(plan, 3000, call + 1);
    }
}

TEST_F(ExchangePlans, go_on_with_parts_that_were_kept_and_outlive_the_context) {
    std::optional<ExchangePlan> plan(std::in_place, *context_);
    context_.reset();
    std::vector<std::pair<int, FetchResult>> kept;
    for (int call = 0; call < 5; ++call)
        plan->apply(parts(5000, 0), [&](int from, FetchResult part) { kept.emplace_back(from, std::move(part)); });
    ExchangePlan moved = *std::move(plan);
    expect_parts(moved, 5000, 6);
    EXPECT_NE(said_by([&] { expect_parts(*plan, 1, 0); }).find("moved from"), std::string::npos);
    plan.reset();
    EXPECT_EQ(kept.size(), 5 * static_cast<std::size_t>(ranks_));
    for (auto const& [from, part] : kept)
        EXPECT_TRUE(holds(from, 0, part[0]));
}

TEST_F(ExchangePlans, go_on_after_producers_and_takers_that_throw) {
    for (bool const stays : {false, true}) {
        std::optional<ExchangePlan> plan;
        if (stays)
            plan.emplace(*context_, parts(3000, 0));
        else
            plan.emplace(*context_);
        for (int call = 0; call < 6; call += 2) {
            std::vector<OutgoingPart> throwing = parts(3000, call);
            if (rank_ == ranks_ - 1)
                throwing.front().produce = [](std::span<std::byte>) { throw std::runtime_error("the disk is gone"); };
            int taken = 0;
            auto const apply = [&] { plan->apply(throwing, [&](int, FetchResult const&) { ++taken; }); };
            EXPECT_NE(said_by(apply).find("the disk is gone"), std::string::npos);
            EXPECT_EQ(taken, rank_ == 0 ? ranks_ - 1 : ranks_);
            auto const stop = [&] {
                plan->apply(parts(3000, call), [&](int, FetchResult const&) {
                    if (rank_ == 0) throw std::runtime_error("enough");
                });
            };
            EXPECT_EQ(said_by(stop), rank_ == 0 ? "enough" : "");
            expect_parts(*plan, 3000, call + 1);
        }
    }
}

TEST_F(ExchangePlans, of_parts_that_stay_refuse_others_on_all_ranks_and_go_on) {
    ExchangePlan plan(*context_, parts(1000, 0));
    PartTaker const take = [](int, FetchResult const&) {};
    std::string const last = "rank " + std::to_string(ranks_ - 1) + ": ";
    bool const is_last = rank_ == ranks_ - 1;
    auto const refused = [&](std::vector<OutgoingPart> const& wrong, PartTaker const& taker) {
        return said_by([&] { plan.apply(is_last ? wrong : parts(1000, 1), is_last ? taker : take); });
    };
    EXPECT_EQ(refused(parts(1001, 1), take).find(last + "the parts have other receivers or sizes"), 0U);
    expect_parts(plan, 1000, 2);
    EXPECT_EQ(refused({}, take).find(last + "the parts have other receivers or sizes"), 0U);
    EXPECT_EQ(refused(parts(1000, 1), nullptr).find(last + "the function that takes parts is empty"), 0U);
    std::vector<OutgoingPart> empty = parts(1000, 1);
    empty[0].produce = nullptr;
    EXPECT_EQ(refused(empty, take).find(last + "part 0 has 1000 bytes, and neither"), 0U);
    expect_parts(plan, 1000, 3);
}

TEST_F(ExchangePlans, of_wrong_parts_are_not_made_and_other_parts_are_refused_before_they_move) {
    std::vector<OutgoingPart> const wrong{part(rank_ == 0 ? ranks_ : 0, 10, 0)};
    EXPECT_EQ(said_by([&] { ExchangePlan const plan(*context_, wrong); }).find("rank 0: part 0 is for rank"), 0U);
    ExchangePlan plan(*context_);
    int taken = 0;
    auto const apply = [&] { plan.apply(wrong, [&](int, FetchResult const&) { ++taken; }); };
    EXPECT_EQ(said_by(apply).find("rank 0: part 0 is for rank"), 0U);
    EXPECT_EQ(taken, 0);
    expect_parts(plan, 77, 1);
}

TEST_F(ExchangePlans, are_refused_inside_their_own_functions) {
    ExchangePlan plan(*context_);
    std::string said;
    plan.apply(parts(10, 0), [&](int, FetchResult const&) {
        said = said_by([&] { plan.apply({}, [](int, FetchResult const&) {}); });
    });
    EXPECT_NE(said.find("calls ExchangePlan::apply from inside"), std::string::npos) << said;
    expect_parts(plan, 20, 1);
}

TEST_F(ExchangePlans, of_one_context_are_used_in_turn) {
    ExchangePlan first(*context_, parts(1000, 0));
    ExchangePlan second(*context_);
    for (int call = 0; call < 20; ++call) {
        expect_parts(first, 1000, call);
        expect_parts(second, 500 + static_cast<std::uint64_t>(call % 3), call);
        exchange(*context_, parts(100, call),
                 [&](int from, FetchResult const& part) { EXPECT_TRUE(holds(from, call, part[0])); });
    }
}

TEST_F(ExchangePlans, take_no_more_memory_after_many_calls) {
    ExchangePlan plan(*context_, parts(3000, 0));
    for (int call = 0; call < 50; ++call)
        expect_parts(plan, 3000, call);
    Bytes const held = context_->budget().held();
    Bytes const resident = context_->budget().resident();
    for (int call = 0; call < effort(1000); ++call)
        expect_parts(plan, 3000, call);
    EXPECT_EQ(context_->budget().held(), held);
    EXPECT_LE(context_->budget().resident().count, resident.count + (1 << 18));
}

}  // namespace
}  // namespace sluice::tests
