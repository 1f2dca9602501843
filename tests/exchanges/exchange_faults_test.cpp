// SPDX-License-Identifier: BSD-3-Clause
/// Streamed exchanges on which something fails on one rank: memory for lists, for buffers or for anything else, reads
/// of another rank's memory, arguments. All ranks get the same error, or all get their parts, and a plan goes on.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/context_state.hpp"
#include "exchanges/plan_state.hpp"
#include "fault/failing_reads.hpp"
#include "sluice/exchange.hpp"
#include "support/effort.hpp"
#include "support/limits/counted_calls.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

/// How a rank exchanges.
enum class Form { once, in_tasks, changing, staying, staying_in_tasks };

class ExchangeFaults : public testing::TestWithParam<Form> {
  protected:
    static constexpr std::uint64_t k_large = 50'000;  // such parts are read in their sender's memory

    ExchangeFaults() : context_(MPI_COMM_WORLD, Settings{}), rank_(context_.rank()), ranks_(context_.size()) {
        for (int to = 0; to < ranks_; ++to) {
            memory_.emplace_back(k_large, std::byte(10 * rank_ + to));
            parts_.push_back({to, {}, 3000_B, [this, to](std::span<std::byte> out) {
                                  std::ranges::fill(out, std::byte(100 + 10 * rank_ + to));
                              }});
            parts_.push_back({to, {}, {}, {}});
        }
        for (int to = 0; to < ranks_; ++to)
            parts_[static_cast<std::size_t>(2 * to + 1)].data = memory_[static_cast<std::size_t>(to)];
        came_.resize(static_cast<std::size_t>(2 * ranks_));
    }
    ~ExchangeFaults() override { fail_reads(0, 0); }

    bool is_hit() const { return rank_ == ranks_ - 1; }
    void make_plan() {
        if (GetParam() == Form::changing) plan_.emplace(context_);
        if (GetParam() == Form::staying || GetParam() == Form::staying_in_tasks) plan_.emplace(context_, parts_);
    }

    /// Returns the error of the call on this rank.
    std::optional<Error> exchange_parts() {
        std::ranges::fill(came_, 0);
        PartTaker const take = [this](int from, FetchResult const& part) { count(from, part); };
        PartTask const task = [this](int from, FetchResult part) {
            OwnAllocations const own;  // of its frame
            return counted(from, std::move(part));
        };
        try {
            if (GetParam() == Form::once)
                exchange(context_, parts_, take);
            else if (GetParam() == Form::in_tasks)
                exchange_in_tasks(context_, parts_, task);
            else if (GetParam() == Form::staying_in_tasks)
                plan_->apply_in_tasks(parts_, task);
            else
                plan_->apply(parts_, take);
        } catch (Error const& error) {
            return error;
        }
        return std::nullopt;
    }
    /// The same with the making of the plan.
    std::optional<Error> plan_and_exchange() {
        try {
            make_plan();
        } catch (Error const& error) {
            return error;
        }
        return exchange_parts();
    }
    void count(int from, FetchResult const& part) {
        OwnAllocations const own;
        bool const is_large = part[0].size() == k_large;
        auto const expected = std::byte((is_large ? 0 : 100) + 10 * from + rank_);
        EXPECT_TRUE(std::ranges::all_of(part[0], [&](std::byte byte) { return byte == expected; }));
        ++came_[static_cast<std::size_t>(2 * from + (is_large ? 1 : 0))];
    }
    Task counted(int from, FetchResult part) {
        count(from, part);
        co_return;
    }
    bool all_came() const {
        return std::ranges::all_of(came_, [](int times) { return times == 1; });
    }

    /// Collective. Whether the call has failed, which is the same on all ranks, with the same text. A rank without
    /// memory for the text has none.
    bool has_failed(std::optional<Error> const& error, ErrorCode code) {
        std::string const text = error ? error->what() : "";
        std::uint64_t const word = std::hash<std::string>()(text) >> 1;  // MPICH compares as signed
        std::uint64_t extremes[4]{error ? 1U : 0U, error ? 0U : 1U, text.empty() ? 0 : word,
                                  text.empty() ? 0 : ~word >> 1};
        MPI_Allreduce(MPI_IN_PLACE, extremes, 4, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
        EXPECT_EQ(extremes[0] + extremes[1], 1U) << (error ? error->what() : "no error here");
        if (!text.empty() || !is_hit()) {
            EXPECT_EQ(extremes[2], error ? word : 0) << text;
            EXPECT_EQ(extremes[3], error ? ~word >> 1 : 0) << text;
        }
        if (error) {
            EXPECT_EQ(error->code(), code) << error->what();
        } else {
            EXPECT_TRUE(all_came());
        }
        return error.has_value();
    }
    void expect_working() { EXPECT_FALSE(has_failed(exchange_parts(), ErrorCode::internal)); }

    Context context_;
    int rank_;
    int ranks_;
    std::vector<std::vector<std::byte>> memory_;
    std::vector<OutgoingPart> parts_;
    std::vector<int> came_;
    std::optional<ExchangePlan> plan_;
};

TEST_P(ExchangeFaults, of_lists_are_one_error_on_all_ranks) {
    make_plan();
    memory::Meter& meter = engine::ContextState::of(context_).meter();
    bool failed = true;
    int failures = 0;
    for (std::uint64_t allowed = 0; failed; ++allowed) {
        ASSERT_LT(allowed, 100U);
        if (is_hit()) meter.fail_after(allowed);
        std::optional<Error> const error = exchange_parts();
        meter.never_fail();
        failed = has_failed(error, ErrorCode::out_of_memory);
        failures += failed ? 1 : 0;
        ASSERT_FALSE(HasFailure()) << "allocation " << allowed;
    }
    // A plan whose parts stay has its lists.
    EXPECT_EQ(failures > 0, GetParam() != Form::staying && GetParam() != Form::staying_in_tasks);
    expect_working();
}

/// Whether one allocation fails or all from then on, wherever it is in the making of a plan and in a call, all ranks
/// have the error or all have their parts.
TEST_P(ExchangeFaults, of_any_allocation_are_one_error_on_all_ranks) {
    for (auto const fail : {fail_an_allocation, fail_all_allocations}) {
        int failures = 0;
        int is_over = 0;
        for (std::uint64_t good = 0; is_over == 0; good += step_of_allocations()) {
            plan_.reset();
            if (is_hit()) fail(good);
            std::optional<Error> const error = plan_and_exchange();
            is_over = is_hit() && !fail_no_allocation() ? 1 : 0;
            failures += has_failed(error, ErrorCode::out_of_memory) ? 1 : 0;
            MPI_Allreduce(MPI_IN_PLACE, &is_over, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
            if (plan_) expect_working();
            ASSERT_FALSE(HasFailure()) << "allocation " << good;
        }
        EXPECT_GT(failures, 0);
    }
}

/// Plans: without one, the store begins inside the call.
class ExchangePlanFaults : public ExchangeFaults {};

TEST_P(ExchangePlanFaults, of_publications_are_one_error_on_all_ranks) {
    make_plan();
    expect_working();
    for (std::uint64_t good = 0; good < parts_.size(); ++good) {
        if (is_hit()) fail_an_allocation(good);
        std::optional<Error> const error = exchange_parts();
        if (is_hit()) {
            EXPECT_TRUE(fail_no_allocation());
        }
        EXPECT_TRUE(has_failed(error, ErrorCode::out_of_memory));
        expect_working();
        ASSERT_FALSE(HasFailure()) << "allocation " << good;
    }
}

TEST_P(ExchangePlanFaults, of_buffers_mean_that_parts_come_later) {
    make_plan();
    expect_working();
    for (std::uint64_t good = 0; good < 2 * parts_.size(); ++good)
        for (std::uint64_t const failures : {1U, 20U}) {
            if (is_hit()) ExchangePlan::State::of(*plan_).planned.store().fail_allocations(good, failures);
            expect_working();
            ASSERT_FALSE(HasFailure()) << failures << " failures after " << good << " buffers";
        }
}

TEST_P(ExchangeFaults, of_reads_mean_messages) {
    for (std::uint64_t const good : {0U, 1U, 2U}) {
        make_plan();
        for (int const error : {EPERM, EFAULT}) {
            if (is_hit()) fail_reads(good, error);
            expect_working();
            expect_working();
            fail_reads(0, 0);
            expect_working();
            ASSERT_FALSE(HasFailure()) << "after " << good << " good reads";
        }
    }
}

std::string name_of_form(testing::TestParamInfo<Form> const& tested) {
    switch (tested.param) {
        case Form::once:
            return "once";
        case Form::in_tasks:
            return "in_tasks";
        case Form::changing:
            return "changing";
        case Form::staying:
            return "staying";
        case Form::staying_in_tasks:
            break;
    }
    return "staying_in_tasks";
}

INSTANTIATE_TEST_SUITE_P(Forms, ExchangeFaults,
                         testing::Values(Form::once, Form::in_tasks, Form::changing, Form::staying,
                                         Form::staying_in_tasks),
                         name_of_form);
INSTANTIATE_TEST_SUITE_P(Forms, ExchangePlanFaults,
                         testing::Values(Form::changing, Form::staying, Form::staying_in_tasks), name_of_form);

}  // namespace
}  // namespace sluice::tests
