// SPDX-License-Identifier: BSD-3-Clause
/// Reads of a sender's memory may be forbidden from the start, on one rank alone, or from some moment on: the blocks
/// come in messages then, whole, and the peers are not asked again.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cerrno>
#include <cstdint>

#include "collectives/inplace_bed.hpp"
#include "fault/failing_reads.hpp"
#include "sluice/alltoall.hpp"

namespace sluice::tests {
namespace {

class AlltoallLostReads : public testing::TestWithParam<bool> {
  protected:
    ~AlltoallLostReads() override { fail_reads(0, 0); }

    bool is_hit(Context const& context) const { return GetParam() || context.rank() == context.size() - 1; }

    static AlltoallOutcome exchange(Context& context, std::uint64_t bytes, int call) {
        ByteBlocks from(context.rank(), context.size(), bytes);
        ByteBlocks to(context.rank(), context.size(), bytes);
        from.fill(call);
        AlltoallOptions options;
        options.algorithm = AlltoallAlgorithm::pull;
        auto const count = static_cast<std::int64_t>(bytes);
        AlltoallOutcome const outcome =
            alltoall(context, from.data(), count, MPI_BYTE, to.data(), count, MPI_BYTE, options);
        EXPECT_EQ(to.problem(call), "") << bytes << " bytes, call " << call;
        return outcome;
    }
};

TEST_P(AlltoallLostReads, from_the_start_are_replaced_by_messages) {
    Context context(MPI_COMM_WORLD, Settings{});
    if (is_hit(context)) fail_reads(0, EPERM);
    auto const peers = static_cast<std::uint64_t>(context.size() - 1);
    AlltoallOutcome const first = exchange(context, 300'000, 0);
    // A rank that learns that a peer cannot read its memory does not try to read the peer's.
    EXPECT_EQ(first.pulled + first.lost, peers);
    EXPECT_LE(first.lost, is_hit(context) ? peers : 1);
    if (is_hit(context)) {
        EXPECT_EQ(first.pulled, 0U);
    }
    exchange(context, 300'000, 1);
    std::uint64_t const reads = reads_made();
    AlltoallOutcome const later = exchange(context, 300'000, 2);
    EXPECT_EQ(later.pulled, is_hit(context) ? 0 : peers - 1);
    EXPECT_EQ(later.lost, 0U);
    if (is_hit(context)) {
        EXPECT_EQ(reads_made(), reads);
    }
}

TEST_P(AlltoallLostReads, in_mid_run_lose_nothing) {
    for (std::uint64_t const good : {0U, 1U, 2U, 3U, 5U, 8U}) {
        Context context(MPI_COMM_WORLD, Settings{});
        exchange(context, 20'000, 0);
        MPI_Barrier(MPI_COMM_WORLD);
        if (is_hit(context)) fail_reads(good, EFAULT);
        exchange(context, 1'000'001, 1);
        fail_reads(0, 0);
        exchange(context, 1'000'001, 2);
        ASSERT_FALSE(HasFailure()) << "after " << good << " good calls";
    }
}

TEST_P(AlltoallLostReads, that_come_short_are_repeated) {
    Context context(MPI_COMM_WORLD, Settings{});
    if (is_hit(context)) shorten_reads(30'000);
    AlltoallOutcome const outcome = exchange(context, 300'000, 0);
    shorten_reads(0);
    EXPECT_EQ(outcome.pulled + outcome.lost, static_cast<std::uint64_t>(context.size() - 1));
}

INSTANTIATE_TEST_SUITE_P(Ranks, AlltoallLostReads, testing::Bool(),
                         [](auto const& tested) { return tested.param ? "all" : "one"; });

}  // namespace
}  // namespace sluice::tests
