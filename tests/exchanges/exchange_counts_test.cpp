// SPDX-License-Identifier: BSD-3-Clause
/// What an exchange costs: messages, collective calls, communicators and allocations, once and planned.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "sluice/exchange.hpp"
#include "support/limits/counted_calls.hpp"

namespace sluice::tests {
namespace {

class ExchangeCounts : public testing::Test {
  protected:
    ExchangeCounts()
        : context_(MPI_COMM_WORLD, Settings{}),
          peers_(static_cast<std::uint64_t>(context_.size() - 1)),
          rounds_(static_cast<std::uint64_t>(std::bit_width(peers_))) {
        for (int to = 0; to < context_.size(); ++to)
            parts_.push_back({to, {}, 1000_B, [](std::span<std::byte> out) { std::ranges::fill(out, std::byte{1}); }});
    }

    /// The calls of an exchange after the first few, whose buffers and tables are new.
    template <typename Exchange>
    static Calls calls_of(Exchange const& exchange_parts) {
        for (int i = 0; i < 3; ++i)
            exchange_parts();
        Calls const before = calls_so_far();
        exchange_parts();
        return calls_so_far() - before;
    }
    Calls calls_of(ExchangePlan& plan) {
        return calls_of([&] { plan.apply(parts_, take_); });
    }
    /// The calls of `plan` have no other collective steps than those of `steps`, each a message a round.
    void expect_messages(Calls const& calls, std::uint64_t of_a_part, std::uint64_t steps) const {
        EXPECT_EQ(calls.messages, of_a_part * peers_ + steps * rounds_);
        EXPECT_EQ(calls.collectives, 0U);
        EXPECT_EQ(calls.communicators, 0U);
        EXPECT_LE(calls.allocations, 14 * (peers_ + 1));
    }

    Context context_;
    std::uint64_t peers_;
    std::uint64_t rounds_;
    std::vector<OutgoingPart> parts_;
    PartTaker take_ = [](int, FetchResult const&) {};
};

TEST_F(ExchangeCounts, of_parts_that_stay_are_a_request_and_an_answer_a_part_and_one_step) {
    ExchangePlan plan(context_, parts_);
    expect_messages(calls_of(plan), 2, 1);
}

TEST_F(ExchangeCounts, of_parts_that_may_change_are_one_step_more) {
    ExchangePlan plan(context_);
    expect_messages(calls_of(plan), 2, 2);
}

TEST_F(ExchangeCounts, of_parts_that_alternate_are_the_same_because_a_plan_remembers_them) {
    ExchangePlan plan(context_);
    std::vector<OutgoingPart> others = parts_;
    for (OutgoingPart& part : others)
        part.bytes = 2000_B;
    auto const both = [&] {
        plan.apply(others, take_);
        plan.apply(parts_, take_);
    };
    Calls const calls = calls_of(both);
    EXPECT_EQ(calls.messages, 2 * (2 * peers_ + 2 * rounds_));
    EXPECT_EQ(calls.collectives, 0U);
}

TEST_F(ExchangeCounts, of_parts_that_are_read_in_their_senders_memory_have_no_data) {
    std::vector<std::byte> const large(100'000);
    for (OutgoingPart& part : parts_)
        part = {part.rank, large, {}, {}};
    ExchangePlan plan(context_, parts_);
    expect_messages(calls_of(plan), 3, 1);
}

TEST_F(ExchangeCounts, of_an_exchange_without_a_plan_are_a_communicator_and_announcements_more) {
    ExchangePlan plan(context_, parts_);
    Calls const planned = calls_of(plan);
    Calls const once = calls_of([&] { exchange(context_, parts_, take_); });
    EXPECT_EQ(once.communicators, 1U);
    EXPECT_EQ(once.messages, planned.messages + peers_ + rounds_);
    EXPECT_LE(once.collectives, 6U);
    EXPECT_GT(once.allocations, planned.allocations);
}

}  // namespace
}  // namespace sluice::tests
