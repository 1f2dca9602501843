// SPDX-License-Identifier: BSD-3-Clause
/// The kernel may forbid reads of other processes from the start, on one rank alone, or during the run: elements arrive
/// in each case.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "fault/failing_reads.hpp"
#include "transposes/transpose_bed.hpp"

namespace sluice::tests {
namespace {

class LostReadsOfTransposes : public testing::TestWithParam<bool> {
  protected:
    ~LostReadsOfTransposes() override { fail_reads(0, 0); }

    /// Whether this rank is one of those whose calls fail.
    static bool is_hit(Context const& context) { return GetParam() || context.rank() == context.size() - 1; }

    /// Collective. Returns the report of the transpose into another array.
    static TransposeReport transpose_and_check(Context& context) {
        TransposeCase const one{{{48, 40, 30}, 16_B},
                                slabs(0, context.size()),
                                slabs(1, context.size(), {1, 2, 0}),
                                WireType::as_stored,
                                {}};
        TransposeReport last;
        EXPECT_EQ(problem_of_transpose(one, context.rank(),
                                       [&](std::byte const* from, std::byte* to) {
                                           last = transpose(context, one.shape, one.before, one.after, from, to);
                                       }),
                  "");
        return last;
    }
};

TEST_P(LostReadsOfTransposes, from_the_start_are_replaced_by_messages) {
    Context context(MPI_COMM_WORLD, Settings{});
    if (is_hit(context)) fail_reads(0, EPERM);
    for (int call = 0; call < 3; ++call) {
        TransposeReport const report = transpose_and_check(context);
        EXPECT_EQ(report.pulled, 0U);
        EXPECT_GT(report.messages, 0U);
    }
}

TEST_P(LostReadsOfTransposes, in_mid_run_are_made_good_by_messages) {
    for (std::uint64_t const good : {0U, 1U, 2U, 3U, 5U, 8U, 13U}) {
        Context context(MPI_COMM_WORLD, Settings{});
        if (transpose_and_check(context).pulled == 0) GTEST_SKIP() << "the kernel forbids access to other processes";
        MPI_Barrier(MPI_COMM_WORLD);
        if (is_hit(context)) fail_reads(good, EFAULT);
        transpose_and_check(context);
        fail_reads(0, 0);
        transpose_and_check(context);
    }
}

INSTANTIATE_TEST_SUITE_P(OnAllAndOnOne, LostReadsOfTransposes, testing::Bool());

}  // namespace
}  // namespace sluice::tests
