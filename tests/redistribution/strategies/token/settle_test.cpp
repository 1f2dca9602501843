// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/token/settle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace sluice::redistribution {
namespace {

/// `blocks` blocks are in random slots of an array of `slots`, and belong in other random slots.
void settle_random(std::uint64_t slots, std::uint64_t blocks, std::uint64_t bytes, unsigned seed,
                   std::uint64_t hands = 16) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> lies_in(slots);
    std::iota(lies_in.begin(), lies_in.end(), 0);
    std::vector<std::uint64_t> belongs_to = lies_in;
    std::shuffle(lies_in.begin(), lies_in.end(), random);
    std::shuffle(belongs_to.begin(), belongs_to.end(), random);

    memory::Meter meter;
    AddressMap places(slots, 3, slots, meter);
    std::vector<std::byte> data(slots * bytes + 64, std::byte{0xee});  // 32 guard bytes on each side
    std::byte* const array = data.data() + 32;
    auto const pattern = [bytes](std::uint64_t slot, std::uint64_t i) {
        return static_cast<std::byte>((slot * 31 + i * 7 + bytes) & 0xff);
    };
    for (std::uint64_t slot = 0; slot < slots; ++slot)
        places.set_state(slot, static_cast<unsigned>(ScanState::vacant));
    for (std::uint64_t block = 0; block < blocks; ++block) {
        places.set(lies_in[block], {0, static_cast<std::int64_t>(belongs_to[block])});
        places.set_state(lies_in[block], static_cast<unsigned>(ScanState::landed));
        for (std::uint64_t i = 0; i < bytes; ++i)
            array[lies_in[block] * bytes + i] = pattern(belongs_to[block], i);
    }
    std::vector<std::byte> room(hands * bytes);
    Settling settling(array, bytes, places, room);
    settling.run();
    for (std::uint64_t block = 0; block < blocks; ++block)
        for (std::uint64_t i = 0; i < bytes; ++i)
            ASSERT_EQ(array[belongs_to[block] * bytes + i], pattern(belongs_to[block], i))
                << "slot " << belongs_to[block] << " of " << slots << ", " << blocks << " blocks of " << bytes;
    for (std::size_t i = 0; i < 32; ++i) {
        ASSERT_EQ(data[i], std::byte{0xee});
        ASSERT_EQ(data[data.size() - 1 - i], std::byte{0xee});
    }
}

TEST(Settling, brings_every_block_of_a_small_array_to_its_place) {
    for (unsigned seed = 0; seed < 400; ++seed) {
        std::uint64_t const slots = seed % 80;
        settle_random(slots, slots == 0 ? 0 : seed * 7 % (slots + 1), 1 + seed % 256, seed);
    }
}

TEST(Settling, brings_every_block_of_a_long_array_to_its_place) {
    settle_random(10'000, 10'000, 64, 1);
    settle_random(10'000, 8'000, 64, 2);
    settle_random(10'000, 1, 64, 3);
    settle_random(100'003, 100'003, 1, 4);
    settle_random(4'001, 4'000, 256, 5);
    settle_random(70'001, 60'000, 3, 7);
    settle_random(1'001, 1'000, 2048, 8);
}

TEST(Settling, needs_room_for_one_block_only) {
    settle_random(5'000, 5'000, 64, 9, 1);
    settle_random(5'000, 4'900, 64, 10, 3);
}

/// All hands follow one cycle, and most of them start inside it.
TEST(Settling, follows_one_long_cycle_with_all_hands) {
    std::uint64_t const slots = 1000;
    memory::Meter meter;
    AddressMap places(slots, 2, slots, meter);
    std::vector<std::uint32_t> array(slots);
    for (std::uint64_t slot = 0; slot < slots; ++slot) {
        std::uint64_t const place = (slot + 1) % slots;
        places.set(slot, {0, static_cast<std::int64_t>(place)});
        places.set_state(slot, static_cast<unsigned>(ScanState::landed));
        array[slot] = static_cast<std::uint32_t>(place);
    }
    std::vector<std::byte> room(16 * sizeof(std::uint32_t));
    Settling settling(reinterpret_cast<std::byte*>(array.data()), sizeof(std::uint32_t), places, room);
    EXPECT_EQ(settling.run(), slots);
    for (std::uint64_t slot = 0; slot < slots; ++slot)
        ASSERT_EQ(array[slot], slot);
}

}  // namespace
}  // namespace sluice::redistribution
