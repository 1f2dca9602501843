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

/// Also of data that were sent: only here can they arrive with other bytes.
TEST(StoreModel, refuses_data_that_arrive_with_other_bytes_and_tells_their_owners) {
    std::uint64_t spoiled = 0;
    for (int seed = 0; seed < effort(k_cases / 5); ++seed) {
        StoreModel model(static_cast<std::uint64_t>(seed), StoreModel::Data::are_spoiled);
        ASSERT_TRUE(model.run()) << "case " << seed << " runs in a circle";
        ASSERT_EQ(model.fault(), "") << "case " << seed;
        ASSERT_EQ(model.spoiled() > 0, model.told_of_wrong() > 0) << "case " << seed;
        spoiled += model.spoiled() > 0 ? 1 : 0;
    }
    EXPECT_GT(spoiled, 0U);
}

}  // namespace sluice::tests::fetch_model
