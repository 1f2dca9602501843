// SPDX-License-Identifier: BSD-3-Clause
/// The kernel may forbid access to other processes from the start, on one rank alone, or during the run: blocks arrive
/// in each case.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cerrno>
#include <vector>

#include "collectives/inplace_bed.hpp"
#include "fault/failing_reads.hpp"

namespace sluice::tests {
namespace {

using collectives::InplaceBlocks;

class LostAccess : public testing::TestWithParam<bool> {
  protected:
    ~LostAccess() override { fail_reads(0, 0); }

    /// Returns whether this rank is one of those whose calls fail.
    bool is_hit(InplaceBed const& bed) const { return GetParam() || bed.rank() == bed.size() - 1; }

    static void exchange(InplaceBed& bed, std::uint64_t bytes, int call) {
        ByteBlocks blocks(bed.rank(), bed.size(), bytes);
        blocks.fill(call);
        ASSERT_EQ(bed.run(InplaceBlocks::alltoall(blocks.data(), static_cast<std::int64_t>(bytes), MPI_BYTE)),
                  MPI_SUCCESS);
        ASSERT_EQ(blocks.problem(call), "") << bytes << " bytes, call " << call;
    }
};

TEST_P(LostAccess, from_the_start_is_replaced_by_messages) {
    InplaceBed bed;
    if (is_hit(bed)) fail_reads(0, EPERM);
    for (int call = 0; call < 3; ++call)
        exchange(bed, 300'000, call);
    auto const peers = static_cast<std::uint64_t>(bed.size() - 1);
    EXPECT_EQ(bed.report().pairs_staged, is_hit(bed) ? peers : 1U);
    EXPECT_EQ(bed.report().pairs_lost, 0U);
}

TEST_P(LostAccess, in_mid_run_is_made_good_by_messages_and_nothing_is_lost) {
    for (std::uint64_t const good : {0U, 1U, 2U, 3U, 4U, 5U, 8U, 13U}) {
        InplaceBed bed;
        exchange(bed, 20'000, 0);
        if (bed.report().pairs_swapped == 0) GTEST_SKIP() << "the kernel forbids access to other processes";
        MPI_Barrier(MPI_COMM_WORLD);
        if (is_hit(bed)) fail_reads(good, EFAULT);
        exchange(bed, 1'000'001, 1);
        if (is_hit(bed) && good < 4) {
            EXPECT_GT(bed.report().pairs_lost, 0U) << good;
        }
        fail_reads(0, 0);
        exchange(bed, 1'000'001, 2);
        ASSERT_FALSE(HasFailure()) << "after " << good << " good calls";
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, LostAccess, testing::Bool(),
                         [](auto const& tested) { return tested.param ? "all" : "one"; });

}  // namespace
}  // namespace sluice::tests
