// SPDX-License-Identifier: BSD-3-Clause
/// Every allocation fails once (each third where time is dear), on one rank: all ranks get the same error before any
/// byte has moved, or the call succeeds.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "engine/context_state.hpp"
#include "fault/refusal.hpp"
#include "sluice/redistribute.hpp"
#include "support/effort.hpp"

namespace sluice::tests {

namespace {

class NoMemory : public testing::TestWithParam<Strategy> {
  protected:
    explicit NoMemory(Settings const& settings = {}) : context_(MPI_COMM_WORLD, settings), bed_(context_) {
        options_.strategy = GetParam();
    }

    Context context_;
    RedistributeOptions options_;
    Bed bed_;
};

/// More allocations than any strategy makes for so few blocks.
constexpr std::uint64_t k_most_allocations = 400;

}  // namespace

TEST_P(NoMemory, is_one_error_on_all_ranks_whichever_allocation_fails) {
    bed_.expect_working(GetParam());
    bool went_through = false;
    for (std::uint64_t allowed = 0; allowed < k_most_allocations && !went_through; allowed += step_of_allocations()) {
        memory::Meter& meter = engine::ContextState::of(context_).meter();
        if (bed_.last()) meter.fail_after(allowed);
        int failed = 0;
        std::string text;
        try {
            redistribute(context_, bed_.blocks(), bed_.next_rank(), options_);
        } catch (Error const& error) {
            failed = 1;
            text = error.what();
            EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << text;
        }
        meter.never_fail();
        int on_all = failed;
        MPI_Allreduce(MPI_IN_PLACE, &on_all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        ASSERT_EQ(on_all, failed * bed_.ranks()) << "allocation " << allowed << " failed on some ranks only: " << text;
        went_through = failed == 0;
        if (!went_through) {
            bed_.expect_refused([&] { throw Error(ErrorCode::out_of_memory, text); }, ErrorCode::out_of_memory,
                                {"memory"});
        } else {
            bed_.fill();
            MPI_Barrier(MPI_COMM_WORLD);
        }
        ASSERT_FALSE(HasFailure()) << "when allocation " << allowed << " fails";
    }
    EXPECT_TRUE(went_through) << "still failing after " << k_most_allocations << " allocations";
    bed_.expect_working(GetParam());
}

TEST_P(NoMemory, gives_back_all_it_took_when_it_fails) {
    bed_.expect_working(GetParam());
    memory::Meter& meter = engine::ContextState::of(context_).meter();
    Bytes const held = meter.held();
    Bytes const leased = context_.budget().held();
    for (std::uint64_t allowed : std::initializer_list<std::uint64_t>{0, 1, 2, 3, 5, 8}) {
        meter.fail_after(allowed);
        try {
            redistribute(context_, bed_.blocks(), bed_.next_rank(), options_);
        } catch (Error const&) {
            bed_.expect_untouched();
        }
        meter.never_fail();
        bed_.fill();
        EXPECT_EQ(meter.held(), held);
        EXPECT_EQ(context_.budget().held(), leased);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/// A limit that the program itself exceeds already: the budget grants its guaranteed minimum alone. It is a setting,
/// because the library lets the limit of the budget follow the free memory.
class NoBudget : public NoMemory {
  protected:
    NoBudget() : NoMemory(with_little_memory()) {}
    static Settings with_little_memory() {
        Settings settings;
        settings.memory = 1_MiB;
        return settings;
    }
};

TEST_P(NoBudget, for_the_staging_asked_for_means_the_smallest_staging) {
    // It copies what moves. Under the simulator the budget is the guaranteed minimum, in which the copies fit.
    if (GetParam() == Strategy::alltoallv && bed_.ranks() > 1 && context_.budget().limit() == 0_B) {
        bed_.expect_refused([&] { redistribute(context_, bed_.blocks(), bed_.next_rank(), options_); },
                            ErrorCode::out_of_memory,
                            {"no memory for strategy alltoallv", "its budget", "alltoallv: the copies of"});
        return;
    }
    RedistributionReport const report = redistribute(context_, bed_.blocks(), bed_.next_rank(), options_);
    // `auto` takes the copies, too, where they fit.
    bool const copies = GetParam() == Strategy::automatic && report.strategy == Strategy::alltoallv;
    EXPECT_TRUE(!copies || context_.budget().limit() > 0_B) << report.why;
    EXPECT_TRUE(copies || report.why.find("smallest") != std::string::npos) << report.why;
    bed_.fill();
    bed_.expect_working(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Redistribute, NoMemory, testing::ValuesIn(all_strategies()), strategy_test_name);
INSTANTIATE_TEST_SUITE_P(Redistribute, NoBudget, testing::ValuesIn(all_strategies()), strategy_test_name);

}  // namespace sluice::tests
