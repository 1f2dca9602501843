// SPDX-License-Identifier: BSD-3-Clause
#include "memory/registration/cost_model.hpp"

#include <gtest/gtest.h>

#include "memory/registration/registrars/counting.hpp"
#include "memory/registration/turned_bed.hpp"

namespace sluice::memory::registration {

namespace {

TEST(CostModel, finds_the_law_of_the_registrar) {
    CountingRegistrar registrar({Time(210), us(38), Time(63), us(11)});
    Costs const costs = measure_costs(registrar, 1024, {});
    EXPECT_NEAR(costs.add.ns_a_page(), 210, 1);
    EXPECT_NEAR(costs.add.ns_a_call(), 38'000, 100);
    EXPECT_NEAR(costs.remove.ns_a_page(), 63, 1);
    EXPECT_NEAR(costs.remove.ns_a_call(), 11'000, 100);
    EXPECT_EQ(registrar.pinned(), 0U);
    EXPECT_EQ(registrar.added(), registrar.removed());
}

TEST(CostModel, follows_a_device_that_becomes_slower) {
    PageCost cost;
    for (int i = 0; i < 200; ++i)
        for (std::uint64_t const pages : {1U, 16U, 256U})
            cost.learn(pages, us(10) + Time(100) * pages);
    EXPECT_NEAR(cost.ns_a_page(), 100, 2);
    for (int i = 0; i < 400; ++i)
        for (std::uint64_t const pages : {1U, 16U, 256U})
            cost.learn(pages, us(20) + Time(300) * pages);
    EXPECT_NEAR(cost.ns_a_page(), 300, 10);
    EXPECT_NEAR(cost.ns_a_call(), 20'000, 1500);
}

/// Deadlines are met by what is to be expected at most.
TEST(CostModel, expects_more_than_the_mean_of_costs_that_vary) {
    PageCost cost;
    for (int i = 0; i < 400; ++i)
        cost.learn(i % 2 == 0 ? 64 : 128, us(100) + us(i % 5 * 10));
    EXPECT_GE(cost.of(64), us(120));
    EXPECT_LE(cost.of(64), us(180));
}

TEST(CostModel, measures_what_works_and_ends_where_the_registrar_refuses) {
    CountingRegistrar refuses({}, 16 * k_pinned_page);
    Costs const costs = measure_costs(refuses, 1024, {});
    EXPECT_EQ(refuses.pinned(), 0U);
    EXPECT_GE(costs.add.of(1), Time(0));
}

TEST(CostModel, one_size_alone_is_right_for_that_size) {
    PageCost cost;
    for (int i = 0; i < 10; ++i)
        cost.learn(100, us(50));
    EXPECT_NEAR(static_cast<double>(cost.of(100).count()), 50'000, 100);
}

TEST(CostModel, steps_of_this_machine_take_some_time) {
    StepCosts const steps = measure_steps();
    EXPECT_GT(steps.event, Time(0));
    EXPECT_GT(steps.insert, Time(0));
    EXPECT_GT(steps.update, Time(0));
}

}  // namespace

}  // namespace sluice::memory::registration
