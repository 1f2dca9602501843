// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/open/objects.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "support/effort.hpp"

namespace sluice::plugin {

namespace {

using record::Object;

struct Table {
    Budget budget{64_MiB};
    Objects objects{budget};
};

TEST(Objects, a_free_belongs_to_the_place_that_made_it) {
    Table table;
    table.objects.add(Object::group, 100, 7);
    table.objects.add(Object::info, 100, 8);
    EXPECT_EQ(table.objects.remove(Object::info, 100), 8U);
    EXPECT_EQ(table.objects.remove(Object::info, 100), std::nullopt);
    EXPECT_EQ(table.objects.remove(Object::group, 100), 7U);
    EXPECT_EQ(table.objects.kept(), 0U);
}

TEST(Objects, a_free_belongs_to_the_last_that_was_made_with_its_handle) {
    Table table;
    for (std::uint32_t const site : {1U, 2U, 2U, 1U, 3U})
        table.objects.add(Object::group, 100, site);
    for (std::uint32_t const site : {3U, 1U, 2U, 2U, 1U})
        EXPECT_EQ(table.objects.remove(Object::group, 100), site);
    EXPECT_EQ(table.objects.remove(Object::group, 100), std::nullopt);
}

TEST(Objects, what_is_leased_grows_with_the_objects_that_live) {
    Table table;
    constexpr std::uint64_t k_many = 100'000;
    for (std::uint64_t i = 2; i < k_many; ++i)
        ASSERT_TRUE(table.objects.add(Object::datatype, 64 * i, 4));
    EXPECT_LE(table.budget.held().count, 64 * k_many);
    for (std::uint64_t i = 2; i < k_many; ++i)
        ASSERT_EQ(table.objects.remove(Object::datatype, 64 * i), 4U);
    std::uint64_t const held = table.budget.held().count;
    for (std::uint64_t i = 2; i < k_many; ++i) {
        table.objects.add(Object::datatype, 64 * i, 4);
        table.objects.remove(Object::datatype, 64 * i);
    }
    EXPECT_EQ(table.budget.held().count, held) << "what is freed leaves no mark";
}

TEST(Objects, are_as_stacks_by_handle_have_them) {
    std::mt19937 random(5);  // the same in each run
    Table table;
    std::map<std::pair<Object, std::uint64_t>, std::vector<std::uint32_t>> model;
    int const steps = sluice::tests::effort(200'000);
    for (int step = 0; step < steps; ++step) {
        bool const filling = step / 5000 % 2 == 0;
        auto const kind = static_cast<Object>(1 + random() % 9);
        std::uint64_t const handle = 2 + 16 * (random() % 200);
        std::vector<std::uint32_t>& stack = model[{kind, handle}];
        if (random() % 4 != 0 ? filling : !filling) {
            auto const site = static_cast<std::uint32_t>(random() % 256);
            stack.push_back(site);
            ASSERT_TRUE(table.objects.add(kind, handle, site));
        } else if (stack.empty()) {
            ASSERT_EQ(table.objects.remove(kind, handle), std::nullopt);
            ASSERT_FALSE(table.objects.knows(kind, handle));
        } else {
            ASSERT_TRUE(table.objects.knows(kind, handle));
            ASSERT_EQ(table.objects.remove(kind, handle), stack.back());
            stack.pop_back();
        }
    }
    std::size_t left = 0;
    for (auto const& [key, stack] : model)
        left += stack.size();
    EXPECT_EQ(table.objects.kept(), left);
}

}  // namespace

}  // namespace sluice::plugin
