// SPDX-License-Identifier: BSD-3-Clause
#include "record/counters.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace sluice::record {
namespace {

class RecordCounters : public ::testing::Test {
  protected:
    std::unique_ptr<RankRecord> record_ = std::make_unique<RankRecord>();
};

TEST_F(RecordCounters, of_one_name_are_one) {
    counter_in(*record_, "all-to-alls in place", "calls served") += 2;
    counter_in(*record_, "checks of collectives", "calls served") += 10;
    counter_in(*record_, "all-to-alls in place", "calls served") += 3;
    ASSERT_EQ(record_->head.counters, 2U);
    EXPECT_STREQ(record_->counters[0].service.data(), "all-to-alls in place");
    EXPECT_STREQ(record_->counters[0].what.data(), "calls served");
    EXPECT_EQ(record_->counters[0].value, 5U);
    EXPECT_EQ(record_->counters[1].value, 10U);
}

TEST_F(RecordCounters, have_names_that_end_within_their_room) {
    std::string const long_name(100, 'x');
    counter_in(*record_, long_name, long_name) = 1;
    counter_in(*record_, long_name, long_name) = 2;
    ASSERT_EQ(record_->head.counters, 1U);
    EXPECT_EQ(std::string(record_->counters[0].service.data()), std::string(k_counter_service - 1, 'x'));
    EXPECT_EQ(std::string(record_->counters[0].what.data()), std::string(k_counter_what - 1, 'x'));
    EXPECT_EQ(record_->counters[0].value, 2U);
}

TEST_F(RecordCounters, beyond_the_table_are_counted_together) {
    for (std::size_t i = 0; i < k_counters + 10; ++i)
        ++counter_in(*record_, "service", "events " + std::to_string(i));
    EXPECT_EQ(record_->head.counters, k_counters);
    EXPECT_EQ(record_->counters[k_counters - 2].what.data(), "events " + std::to_string(k_counters - 2));
    EXPECT_STREQ(record_->counters.back().service.data(), "other services");
    EXPECT_EQ(record_->counters.back().value, 11U);
}

}  // namespace
}  // namespace sluice::record
