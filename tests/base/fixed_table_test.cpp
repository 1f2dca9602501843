// SPDX-License-Identifier: BSD-3-Clause
#include "base/fixed_table.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace sluice::base {
namespace {

TEST(SlotOfKey, spreads_keys_in_a_row_addresses_and_upper_halves) {
    for (unsigned const shift : {0U, 3U, 12U, 48U}) {
        std::set<std::size_t> slots;
        for (std::uint64_t i = 0; i < 256; ++i)
            slots.insert(slot_of_key(i << shift, 8));
        EXPECT_GT(slots.size(), 128U) << shift;  // random slots would give 162
        EXPECT_LT(*slots.rbegin(), 256U);
    }
}

/// Returns the first `count` keys whose search begins at slot `slot` of 2^bits.
std::vector<std::uint64_t> keys_of_slot(std::size_t slot, unsigned bits, std::size_t count) {
    std::vector<std::uint64_t> keys;
    for (std::uint64_t key = 1; keys.size() < count; ++key)
        if (slot_of_key(key, bits) == slot) keys.push_back(key);
    return keys;
}

using Table = FixedTable<std::uint64_t, 4>;

std::uint64_t const* add(Table& table, std::uint64_t key, std::uint64_t value) {
    return table.find_or_add(key, [value] { return std::optional(value); });
}

TEST(FixedTable, finds_what_was_added_and_nothing_else) {
    Table table;
    EXPECT_EQ(table.find(7), nullptr);
    std::uint64_t const* const value = add(table, 7, 70);
    ASSERT_NE(value, nullptr);
    EXPECT_EQ(*value, 70U);
    EXPECT_EQ(table.find(7), value);
    EXPECT_EQ(table.find(8), nullptr);
}

TEST(FixedTable, makes_a_value_once) {
    Table table;
    std::uint64_t const* const value = add(table, 7, 70);
    EXPECT_EQ(add(table, 7, 71), value);
    EXPECT_EQ(*value, 70U);
}

TEST(FixedTable, keys_of_one_slot_stand_one_after_the_other_around_the_end) {
    Table table;
    auto const keys = keys_of_slot(Table::k_slots - 1, 4, 5);
    for (std::uint64_t const key : keys)
        ASSERT_NE(add(table, key, 10 * key), nullptr);
    for (std::uint64_t const key : keys)
        EXPECT_EQ(*table.find(key), 10 * key);
    EXPECT_EQ(table.find(keys_of_slot(Table::k_slots - 1, 4, 6).back()), nullptr);
}

TEST(FixedTable, a_full_table_adds_nothing_more_and_still_finds) {
    Table table;
    for (std::uint64_t key = 1; key <= Table::k_most; ++key)
        ASSERT_NE(add(table, key, key), nullptr);
    bool made = false;
    EXPECT_EQ(table.find_or_add(99,
                                [&] {
                                    made = true;
                                    return std::optional<std::uint64_t>(99);
                                }),
              nullptr);
    EXPECT_FALSE(made);
    EXPECT_EQ(table.find(99), nullptr);
    for (std::uint64_t key = 1; key <= Table::k_most; ++key)
        EXPECT_EQ(*add(table, key, 0), key);
}

TEST(FixedTable, a_key_without_a_value_is_asked_for_again) {
    Table table;
    EXPECT_EQ(table.find_or_add(5, [] { return std::optional<std::uint64_t>(); }), nullptr);
    EXPECT_EQ(table.find(5), nullptr);
    EXPECT_EQ(*add(table, 5, 50), 50U);
}

#ifndef SLUICE_SIMULATED
TEST(FixedTable, threads_that_add_the_same_keys_agree_on_the_values) {
    constexpr std::uint64_t k_keys = 700;
    constexpr std::size_t k_threads = 4;
    FixedTable<std::uint64_t, 10> table;
    std::vector<std::vector<std::uint64_t const*>> found(k_threads);
    std::vector<unsigned> made(k_keys, 0);  // written under the lock of the table
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < k_threads; ++thread)
        threads.emplace_back([&, thread] {
            for (std::uint64_t i = 0; i < k_keys; ++i)
                found[thread].push_back(table.find_or_add(i + 1, [&made, i, thread] {
                    ++made[i];
                    return std::optional(1000 * i + thread);
                }));
        });
    for (std::thread& thread : threads)
        thread.join();
    for (std::uint64_t i = 0; i < k_keys; ++i) {
        ASSERT_NE(found[0][i], nullptr);
        EXPECT_EQ(made[i], 1U);
        EXPECT_EQ(*found[0][i] / 1000, i);
        for (auto const& of_thread : found)
            EXPECT_EQ(of_thread[i], found[0][i]);
    }
}
#endif

}  // namespace
}  // namespace sluice::base
