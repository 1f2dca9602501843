// SPDX-License-Identifier: BSD-3-Clause
/// The parts of a store end every fetch, whatever the order of messages and of the steps of the ranks: each set has its
/// data or its error once, and all tokens and blocks come back.
#include <gtest/gtest.h>

#include <cstdint>

#include "fetch/model/store_model.hpp"
#include "support/effort.hpp"

namespace sluice::tests::fetch_model {

namespace {

constexpr int k_cases = 5'000;

}  // namespace

TEST(StoreModel, ends_every_set_once_and_gives_back_every_token_under_every_order) {
    std::uint64_t failed = 0;
    std::uint64_t complete = 0;
    std::uint64_t beyond = 0;
    for (int seed = 0; seed < effort(k_cases); ++seed) {
        StoreModel model(static_cast<std::uint64_t>(seed));
        ASSERT_TRUE(model.run()) << "case " << seed << " runs in a circle";
        ASSERT_EQ(model.fault(), "") << "case " << seed;
        failed += model.failed();
        complete += model.complete();
        beyond += model.beyond();
    }
    // The cases have what they are about.
    EXPECT_GT(failed, complete / 10);
    EXPECT_GT(complete, failed);
    EXPECT_GT(beyond, 0U) << "no set waited for tokens that other results of the program held";
}

}  // namespace sluice::tests::fetch_model
