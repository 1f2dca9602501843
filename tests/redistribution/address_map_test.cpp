// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/address_map.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace sluice::redistribution {
namespace {

struct Shape {
    int ranks;
    std::uint64_t most_slots;
    unsigned bytes_each;
};

TEST(AddressMap, entries_keep_address_state_and_mark_apart_in_five_or_eight_bytes) {
    for (Shape const shape : {Shape{1, 10, 5}, Shape{8, 1U << 20, 5}, Shape{1024, 1U << 25, 5},
                              Shape{1024, 1U << 30, 8}, Shape{100000, std::uint64_t{1} << 40, 8}}) {
        memory::Meter meter;
        AddressMap map(100, shape.ranks, shape.most_slots, meter);
        EXPECT_EQ(map.memory().count, 100 * shape.bytes_each + 8);
        struct Entry {
            Destination address;
            unsigned state = 0;
            bool mark = false;
        };
        std::vector<Entry> model(100);
        std::mt19937_64 random(7);
        for (int step = 0; step < 5000; ++step) {
            std::uint64_t const slot = random() % 100;
            Entry& entry = model[slot];
            switch (random() % 5) {
                case 0:
                    entry.address = {static_cast<int>(random() % static_cast<std::uint64_t>(shape.ranks)),
                                     static_cast<std::int64_t>(random() % shape.most_slots)};
                    map.set(slot, entry.address);
                    break;
                case 1:
                    entry.state = static_cast<unsigned>(random() % 4);
                    map.set_state(slot, entry.state);
                    break;
                case 2:
                    entry.mark = true;
                    map.set_mark(slot);
                    break;
                case 3:
                    entry.address = free_block;
                    map.clear(slot);
                    break;
                default:
                    if (entry.address.rank < 0) break;
                    entry.address.index = static_cast<std::int64_t>(random() % shape.most_slots);
                    map.set_index(slot, static_cast<std::uint64_t>(entry.address.index));
            }
            std::uint64_t const look = random() % 100;
            ASSERT_EQ(map[look], model[look].address);
            ASSERT_EQ(map.is_nowhere(look), model[look].address.rank < 0);
            ASSERT_EQ(map.state(look), model[look].state);
            ASSERT_EQ(map.mark(look), model[look].mark);
        }
    }
}

TEST(AddressMap, the_last_rank_and_the_last_index_are_not_taken_for_nowhere) {
    memory::Meter meter;
    for (int const ranks : {1, 2, 3, 4, 7, 8, 1023, 1024}) {
        AddressMap map(1, ranks, 1000, meter);
        EXPECT_TRUE(map.is_nowhere(0));
        map.set(0, {ranks - 1, 999});
        EXPECT_FALSE(map.is_nowhere(0));
        EXPECT_EQ(map[0], (Destination{ranks - 1, 999}));
    }
}

TEST(AddressMap, new_entries_are_nowhere_whatever_their_number) {
    memory::Meter meter;
    for (std::uint64_t const slots : {0U, 1U, 2047U, 2048U, 2049U, 5000U})
        for (std::uint64_t const most_slots : {std::uint64_t{5000}, std::uint64_t{1} << 40}) {
            AddressMap map(slots, 3, most_slots, meter);
            for (std::uint64_t slot = 0; slot < slots; ++slot) {
                ASSERT_TRUE(map.is_nowhere(slot)) << slot;
                ASSERT_EQ(map.state(slot), 0U);
                ASSERT_FALSE(map.mark(slot));
            }
        }
}

TEST(AddressMap, a_slot_with_an_address_keeps_it) {
    memory::Meter meter;
    AddressMap map(3, 4, 1000, meter);
    map.set_state(1, 2);
    map.set_mark(1);
    EXPECT_TRUE(map.set_if_nowhere(1, {3, 999}));
    EXPECT_FALSE(map.set_if_nowhere(1, {2, 5}));
    EXPECT_EQ(map[1], (Destination{3, 999}));
    EXPECT_EQ(map.state(1), 2U);
    EXPECT_TRUE(map.mark(1));
    EXPECT_TRUE(map.is_nowhere(0));
    EXPECT_TRUE(map.is_nowhere(2));
}

TEST(AddressMap, lists_leave_out_what_has_no_address) {
    memory::Meter meter;
    AddressMap map(4, 4, 1000, meter);
    std::vector<Destination> const addresses{{2, 7}, free_block, {0, 0}};
    map.set_fresh(1, addresses);
    map.set_marks(1, addresses);
    for (std::uint64_t slot = 0; slot < 4; ++slot) {
        bool const has = slot == 1 || slot == 3;
        EXPECT_EQ(map[slot], has ? addresses[slot - 1] : free_block);
        EXPECT_EQ(map.mark(slot), has);
    }
}

}  // namespace
}  // namespace sluice::redistribution
