// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/open/used_pages.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace sluice::plugin {

namespace {

constexpr std::uint64_t k_page = UsedPages::k_page;

TEST(UsedPages, counts_whole_pages_and_each_once) {
    UsedPages used;
    used.add(10 * k_page + 1, 1);
    EXPECT_EQ(used.bytes(), k_page);
    used.add(10 * k_page + 16, 4 * k_page);
    EXPECT_EQ(used.bytes(), 5 * k_page);
    used.add(11 * k_page, 2 * k_page);
    EXPECT_EQ(used.bytes(), 5 * k_page);
    used.add(20 * k_page, k_page);
    EXPECT_EQ(used.bytes(), 6 * k_page);
    used.add(14 * k_page, 8 * k_page);
    EXPECT_EQ(used.bytes(), 12 * k_page) << "two ranges and what is between them";
    used.add(0, 0);
    EXPECT_EQ(used.bytes(), 12 * k_page);
}

TEST(UsedPages, random_ranges_count_as_a_table_of_pages_does) {
    std::mt19937 random(7);
    for (int round = 0; round < 20; ++round) {
        UsedPages used;
        std::vector<bool> pages(2000);
        for (int i = 0; i < 300; ++i) {
            std::uint64_t const from = random() % (1900 * k_page);
            std::uint64_t const bytes = 1 + random() % (20 * k_page);
            used.add(from, bytes);
            for (std::uint64_t page = from / k_page; page <= (from + bytes - 1) / k_page; ++page)
                pages[page] = true;
            std::uint64_t expected = 0;
            for (bool const is_used : pages)
                expected += is_used ? k_page : 0;
            ASSERT_EQ(used.bytes(), expected) << round << ", " << i;
        }
    }
}

TEST(UsedPages, what_finds_no_room_is_not_counted) {
    UsedPages used;
    for (std::uint64_t i = 0; i < UsedPages::k_room + 10; ++i)
        used.add(2 * i * k_page, k_page);
    EXPECT_EQ(used.bytes(), UsedPages::k_room * k_page);
    used.add(k_page, k_page);
    EXPECT_EQ(used.bytes(), (UsedPages::k_room + 1) * k_page) << "what joins others needs no room";
}

}  // namespace

}  // namespace sluice::plugin
