// SPDX-License-Identifier: BSD-3-Clause
// Arrays of more slots than one call looks at. A rank that went to sleep before it had looked at all of its slots
// waited for peers that waited for it.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "redistribution/strategies/token/token_form.hpp"
#include "sluice/redistribute.hpp"

namespace sluice {
namespace {

struct Way {
    std::string name;
    Transport transport;
    std::optional<redistribution::TokenForm> form;
};
class LongArrays : public testing::TestWithParam<Way> {};

TEST_P(LongArrays, end_without_a_free_slot) {
    Settings settings;
    settings.transport = GetParam().transport;
    redistribution::ForcedTokenForm const forced(GetParam().form);
    Context context(MPI_COMM_WORLD, settings);
    int const next = (context.rank() + 1) % context.size();
    int const last = (context.rank() + context.size() - 1) % context.size();
    std::int64_t const count = 40'000;
    std::vector<Destination> destinations;
    for (std::int64_t i = 0; i < count; ++i)
        destinations.push_back({next, count - 1 - i});
    for (int round = 0; round < 3; ++round) {
        std::vector<std::int64_t> blocks;
        for (std::int64_t i = 0; i < count; ++i)
            blocks.push_back(context.rank() * count + i);
        redistribute(context, blocks_of(std::span(blocks)), destinations);
        std::int64_t wrong = 0;
        for (std::int64_t i = 0; i < count; ++i)
            wrong += blocks[static_cast<std::size_t>(count - 1 - i)] != last * count + i;
        EXPECT_EQ(wrong, 0);
    }
}

using redistribution::TokenForm;
INSTANTIATE_TEST_SUITE_P(Ways, LongArrays,
                         testing::Values(Way{"scan", Transport::automatic, std::nullopt},
                                         Way{"chain", Transport::automatic, TokenForm::chain},
                                         Way{"pool", Transport::automatic, TokenForm::pool},
                                         Way{"message", Transport::message, std::nullopt}),
                         [](auto const& test) { return test.param.name; });

}  // namespace
}  // namespace sluice
