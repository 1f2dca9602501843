// SPDX-License-Identifier: BSD-3-Clause
// A budget that others hold as a whole: a redistribution goes on with the smallest staging.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "redistribution/strategies/token/token_form.hpp"
#include "sluice/redistribute.hpp"

namespace sluice {
namespace {

TEST(FullBudget, leaves_every_redistribution_the_smallest_staging) {
    Settings settings;
    settings.memory = 1_MiB;  // less than the program has already, so the budget is 0
    Context context(MPI_COMM_WORLD, settings);
    int const next = (context.rank() + 1) % context.size();
    int const last = (context.rank() + context.size() - 1) % context.size();
    std::int64_t const count = 1000;
    std::vector<Destination> destinations;
    std::vector<std::int64_t> blocks;
    for (std::int64_t i = 0; i < count; ++i) {
        destinations.push_back({next, count - 1 - i});
        blocks.push_back(context.rank() * count + i);
    }
    Lease const first = context.budget().lease_beyond(Budget::guaranteed_minimum, Purpose::other);
    ASSERT_FALSE(context.budget().try_lease(4_KiB, Purpose::staging));
    RedistributeOptions options;
    options.staging = 1_MiB;
    auto const report = redistribute(context, blocks_of(std::span(blocks)), destinations, options);
    EXPECT_NE(report.why.find("no memory for the requested staging, so the smallest"), std::string::npos) << report.why;
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < count; ++i)
        wrong += blocks[static_cast<std::size_t>(count - 1 - i)] != last * count + i;
    EXPECT_EQ(wrong, 0);
}

TEST(FullBudget, of_one_rank_means_no_places_on_any) {
    redistribution::ForcedTokenForm const forced(redistribution::TokenForm::pool);
    int ranks = 0, rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Settings settings;
    if (rank == ranks - 1) settings.memory = 1_MiB;
    Context context(MPI_COMM_WORLD, settings);
    std::int64_t const count = 1000;
    std::vector<Destination> destinations;
    std::vector<std::int64_t> blocks;
    for (std::int64_t i = 0; i < count; ++i) {
        destinations.push_back({(rank + 1) % ranks, count - 1 - i});
        blocks.push_back(rank * count + i);
    }
    auto const report = redistribute(context, blocks_of(std::span(blocks)), destinations);
    EXPECT_NE(report.why.find("no memory for the requested staging, so the smallest"), std::string::npos) << report.why;
    for (CounterValue const& counter : report.counters)
        EXPECT_TRUE(counter.name != "node.place_pieces" || counter.value == 0) << counter.value;
    for (std::int64_t i = 0; i < count; ++i)
        ASSERT_EQ(blocks[static_cast<std::size_t>(count - 1 - i)], (rank + ranks - 1) % ranks * count + i);
}

}  // namespace
}  // namespace sluice
