// SPDX-License-Identifier: BSD-3-Clause
/// Reads of other processes may be forbidden from the start or stop working during the run: blocks arrive in each case.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "fault/failing_reads.hpp"
#include "sluice/redistribute.hpp"
#include "support/guarded_array.hpp"

namespace sluice::tests {

namespace {

class LostReads : public testing::TestWithParam<std::uint64_t> {
  protected:
    LostReads() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    }
    ~LostReads() override { fail_reads(0, 0); }

    /// Every block goes to another rank, mirrored in its array, and no slot is free.
    RedistributionReport move_and_check(Context& context) {
        constexpr std::uint64_t k_slots = 60;
        std::uint64_t const block_bytes = GetParam();
        GuardedArray array(k_slots, block_bytes);
        auto const name = [](int rank, std::uint64_t slot) { return static_cast<std::uint64_t>(rank) * 1000 + slot; };
        for (std::uint64_t slot = 0; slot < k_slots; ++slot)
            array.fill(slot, name(rank_, slot), 0);
        auto const target = [&](int from, std::uint64_t slot) {
            return (from + 1 + static_cast<int>(slot) % std::max(1, ranks_ - 1)) % ranks_;
        };
        // Slot s of each rank gets block s of the one rank whose target for s this rank is: each slot has a permutation
        // of the ranks.
        std::vector<Destination> map;
        for (std::uint64_t slot = 0; slot < k_slots; ++slot)
            map.push_back({target(rank_, slot), static_cast<std::int64_t>(k_slots - 1 - slot)});
        RedistributeOptions options;
        options.strategy = Strategy::token;
        RedistributionReport report = redistribute(context, array.blocks(), map, options);
        for (std::uint64_t slot = 0; slot < k_slots; ++slot)
            for (int from = 0; from < ranks_; ++from)
                if (target(from, slot) == rank_) {
                    EXPECT_TRUE(array.holds(k_slots - 1 - slot, name(from, slot), 0))
                        << "block " << slot << " of rank " << from;
                }
        EXPECT_TRUE(array.guards_are_whole());
        return report;
    }

    static Context context() { return Context(MPI_COMM_WORLD, Settings{}); }

    int rank_ = 0;
    int ranks_ = 1;
};

}  // namespace

TEST_P(LostReads, are_used_where_they_work) {
    Context ours = context();
    std::uint64_t const before = reads_made();
    RedistributionReport const report = move_and_check(ours);
    EXPECT_NE(report.why.find("reads"), std::string::npos) << report.why;
    EXPECT_GT(reads_made(), before);
}

TEST_P(LostReads, that_are_forbidden_from_the_start_are_replaced_for_all_ranks_together) {
    for (bool const everywhere : {true, false}) {
        Context ours = context();
        if (everywhere || rank_ == ranks_ - 1) fail_reads(0, EPERM);
        RedistributionReport const report = move_and_check(ours);
        fail_reads(0, 0);
        EXPECT_NE(report.why.find("forbids"), std::string::npos) << report.why;
    }
}

TEST_P(LostReads, in_mid_run_are_replaced_and_nothing_is_lost) {
    for (bool const everywhere : {false, true})
        for (std::uint64_t const good : {0U, 1U, 2U, 5U, 20U}) {
            Context ours = context();
            move_and_check(ours);
            if (everywhere || rank_ == ranks_ - 1) fail_reads(good, EFAULT);
            move_and_check(ours);
            fail_reads(0, 0);
            ASSERT_FALSE(HasFailure()) << "after " << good << " good reads";
            move_and_check(ours);
        }
}

INSTANTIATE_TEST_SUITE_P(Blocks, LostReads, testing::Values(1, 64, 1024, 16000, 200'000),
                         [](auto const& tested) { return std::to_string(tested.param) + "_bytes"; });

}  // namespace sluice::tests
