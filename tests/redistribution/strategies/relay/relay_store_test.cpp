// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/relay/relay_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

namespace sluice::redistribution {
namespace {

constexpr std::uint64_t k_block = 24;

void put(std::byte* to, std::uint32_t name) {
    std::memset(to, static_cast<int>(name % 251), k_block);
}

bool holds(std::byte const* block, std::uint32_t name) {
    std::vector<std::byte> wanted(k_block);
    put(wanted.data(), name);
    return std::memcmp(block, wanted.data(), k_block) == 0;
}

TEST(RelayStore, keeps_the_order_of_each_queue_while_places_are_used_again) {
    constexpr std::uint32_t k_places = 20;
    constexpr int k_ranks = 3;
    memory::Meter meter;
    RelayStore store(k_places, k_ranks, k_block, meter);
    std::vector<std::deque<std::uint32_t>> expected(k_ranks);
    std::mt19937 random(1);
    std::uint32_t kept = 0;
    std::uint32_t most_kept = 0;
    for (std::uint32_t name = 0; name < 5000; ++name) {
        int const to = static_cast<int>(random() % k_ranks);
        auto& queue = expected[static_cast<std::size_t>(to)];
        bool const grows = name / 40 % 2 == 0;  // full and empty in turns
        if (kept < k_places && (grows || queue.empty())) {
            put(store.push(to, {name, name % 7}), name);
            queue.push_back(name);
            ++kept;
        } else if (!queue.empty() && name % 3 == 0) {
            put(store.front_block(to), name);
            store.turn(to, {name, name % 7});
            queue.pop_front();
            queue.push_back(name);
        } else if (!queue.empty()) {
            store.pop(to);
            queue.pop_front();
            --kept;
        }
        most_kept = std::max(most_kept, kept);
        ASSERT_EQ(store.empty(), kept == 0);
        for (int rank = 0; rank < k_ranks; ++rank) {
            auto const& wanted = expected[static_cast<std::size_t>(rank)];
            ASSERT_EQ(store.count(rank), wanted.size());
            if (wanted.empty()) continue;
            ASSERT_EQ(store.front(rank).slot, wanted.front());
            ASSERT_EQ(store.front(rank).starter, wanted.front() % 7);
            ASSERT_TRUE(holds(store.front_block(rank), wanted.front()));
        }
    }
    EXPECT_EQ(most_kept, k_places);
}

TEST(RelayStore, takes_the_bytes_that_it_names) {
    memory::Meter meter;
    RelayStore const store(50, 4, k_block, meter);
    EXPECT_EQ(meter.held().count, 50 * RelayStore::bytes_of_place(k_block) + 4 * RelayStore::k_bytes_of_rank);
}

}  // namespace
}  // namespace sluice::redistribution
