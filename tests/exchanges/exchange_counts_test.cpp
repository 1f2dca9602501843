// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <mpi.h>
#include <cstdio>
#include <vector>
#include "exchanges/mpi_calls.hpp"
#include "sluice/exchange.hpp"
namespace sluice::tests {
namespace {
TEST(ExchangeCounts, one) {
    Context context(MPI_COMM_WORLD, Settings{});
    for (std::uint64_t bytes : {1000, 100'000})
        for (bool made : {false, true}) {
            std::vector<std::byte> data(bytes);
            std::vector<OutgoingPart> parts;
            for (int to = 0; to < context.size(); ++to)
                if (made) parts.push_back({to, {}, Bytes{bytes}, [](std::span<std::byte>) {}});
                else parts.push_back({to, data, {}, {}});
            for (int form = 0; form < 3; ++form) {
            std::optional<ExchangePlan> plan;
            if (form == 1) plan.emplace(context);
            if (form == 2) plan.emplace(context, parts);
            for (int i = 0; i < 3; ++i) {
            Calls const before = calls_so_far();
            if (plan) plan->apply(parts, [](int, FetchResult const&) {}); else
            exchange(context, parts, [](int, FetchResult const&) {});
            Calls const after = calls_so_far() - before;
            if (context.rank() == 0) std::printf("COUNT form %d %lu %d: messages %lu collectives %lu made %lu allocations %lu\n", form, bytes, made, after.messages, after.collectives, after.made, after.allocations);
            }}
        }
}
}  // namespace
}  // namespace sluice::tests
