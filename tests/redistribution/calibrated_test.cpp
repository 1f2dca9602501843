// SPDX-License-Identifier: BSD-3-Clause
/// The calibration of rank 0 decides for all ranks. The one here says the opposite of what is built in.
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/context_state.hpp"
#include "redistribution/calibration_bed.hpp"
#include "sluice/redistribute.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

/// The opposite of what is built in. At 261 bytes a block costs token a little more than packed copies.
CalibrationBed const& bed_of_opposite_costs() {
    static CalibrationBed const bed = [] {
        kernel::Calibration::Costs const opposite{.token = {1e-9F, 1e-3F, 1e-2F}, .packed = {1e-4F, 1e-8F, 1e-7F}};
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return CalibrationBed(rank, kernel::text_of(CalibrationBed::key(), {opposite, opposite}));
    }();
    return bed;
}

/// Whole arrays go to the next rank, in their order or from the last block to the first.
template <std::size_t Bytes>
RedistributionReport move_to_next(Context& context, std::size_t slots, bool in_order = true) {
    std::vector<std::array<std::byte, Bytes>> array(slots);
    std::vector<Destination> next;
    for (std::size_t slot = 0; slot < slots; ++slot)
        next.push_back(
            {(context.rank() + 1) % context.size(), static_cast<std::int64_t>(in_order ? slot : slots - 1 - slot)});
    RedistributeOptions const options{.strategy = Strategy::automatic, .staging = {}};
    return redistribute(context, blocks_of(array), next, options);
}

SLUICE_NEEDS_RANKS(2, Calibrated, costs_of_rank_0_decide_on_all_ranks);
TEST(Calibrated, costs_of_rank_0_decide_on_all_ranks) {
    bed_of_opposite_costs();
    Context context(MPI_COMM_WORLD);
    RedistributionReport const small = move_to_next<64>(context, 2000);
    RedistributionReport const large = move_to_next<16000>(context, 20);
    // Where the node has no rings, nothing is known of its costs.
    if (small.why.find("costs of messages built in") != std::string::npos)
        GTEST_SKIP() << "the ranks have no rings: " << small.why;
    EXPECT_NE(small.why.find("costs measured by sluice doctor --calibrate"), std::string::npos) << small.why;
    EXPECT_EQ(small.strategy, Strategy::token) << small.why;
    EXPECT_EQ(large.strategy, Strategy::alltoallv) << large.why;
}

SLUICE_NEEDS_RANKS(2, Calibrated, order_of_the_blocks_counts);
TEST(Calibrated, order_of_the_blocks_counts) {
    bed_of_opposite_costs();
    Context context(MPI_COMM_WORLD);
    RedistributionReport const in_order = move_to_next<261>(context, 2000);
    RedistributionReport const reversed = move_to_next<261>(context, 2000, false);
    if (in_order.why.find("costs of messages built in") != std::string::npos)
        GTEST_SKIP() << "the ranks have no rings: " << in_order.why;
    EXPECT_EQ(in_order.strategy, Strategy::token) << in_order.why;
    EXPECT_EQ(reversed.strategy, Strategy::alltoallv) << reversed.why;
}

}  // namespace
}  // namespace sluice::tests
