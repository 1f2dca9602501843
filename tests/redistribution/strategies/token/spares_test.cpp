// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/token/spares.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace sluice::redistribution {
namespace {

TEST(Spares, behave_like_a_map_from_slots_to_places) {
    for (std::size_t const capacity : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{100}}) {
        memory::Meter meter;
        Spares spares(capacity, meter);
        EXPECT_EQ(meter.held().count, Spares::bytes_of(capacity));
        std::set<std::uint64_t> free;
        for (std::uint64_t place = 0; spares.can_hold_more(); ++place) {
            spares.add(1000 + place);
            free.insert(1000 + place);
        }
        EXPECT_EQ(free.size(), capacity);
        std::map<std::uint64_t, std::uint64_t> used;
        std::mt19937_64 random(capacity);
        for (int step = 0; step < 20000; ++step) {
            ASSERT_EQ(spares.any_free(), !free.empty());
            std::uint64_t const slot = random() % 64 * 4096;  // slots that collide
            if (auto const at = used.find(slot); at != used.end()) {
                ASSERT_EQ(spares.of(slot).place, at->second);
                spares.release(slot);
                free.insert(at->second);
                used.erase(at);
            } else if (!free.empty()) {
                std::uint64_t const place = spares.take(slot);
                ASSERT_EQ(free.erase(place), 1U);
                used[slot] = place;
            }
            for (auto const& [known, place] : used)
                ASSERT_EQ(spares.of(known).place, place);
        }
        EXPECT_EQ(meter.held().count, Spares::bytes_of(capacity)) << "allocates nothing after its constructor";
    }
}

}  // namespace
}  // namespace sluice::redistribution
