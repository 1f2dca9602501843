// SPDX-License-Identifier: BSD-3-Clause
/// Memory that is kept for the next message: what is handed out, kept and given back.
#include "memory/buffer_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace sluice::fetch {
namespace {

using Block = memory::BufferMemory::Block;

/// Returns whether the page at `where` is mapped.
bool is_mapped(std::byte const* where) {
    auto const page = reinterpret_cast<std::uintptr_t>(where) & ~std::uintptr_t{4095};
    unsigned char resident = 0;
    return mincore(reinterpret_cast<void*>(page), 4096, &resident) == 0;
}

class BufferMemoryTest : public testing::Test {
  protected:
    Budget budget{64_MiB};
    memory::BufferMemory memory{budget};
};

TEST_F(BufferMemoryTest, hands_out_blocks_that_do_not_overlap) {
    std::minstd_rand random(7);
    struct Held {
        Block block;
        std::size_t bytes;
        unsigned char mark;
    };
    std::vector<Held> held;
    std::size_t const sizes[]{0,    1,    8,      16,     17,     100,    128,     129,
                              1000, 4096, 16'384, 16'385, 65'536, 65'537, 300'000, 2'000'000};
    for (int i = 0; i < 20'000; ++i) {
        if (held.size() > 60 || (!held.empty() && random() % 2 == 0)) {
            Held& old = held[random() % held.size()];
            for (std::size_t at : {std::size_t{0}, old.bytes / 2, old.bytes - 1})
                if (at < old.bytes) {
                    ASSERT_EQ(static_cast<unsigned char>(old.block.get()[at]), old.mark) << old.bytes;
                }
            std::swap(old, held.back());
            held.pop_back();
            continue;
        }
        std::size_t const bytes = sizes[random() % std::size(sizes)];
        Block block = memory.allocate(bytes);
        ASSERT_TRUE(block);
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block.get()) % 16, 0U);
        auto const mark = static_cast<unsigned char>(random());
        if (bytes > 0) std::memset(block.get(), mark, bytes);
        held.push_back({std::move(block), bytes, mark});
        if (random() % 64 == 0) memory.settle();
    }
    held.clear();
    memory.settle();
    EXPECT_EQ(memory.kept(), memory.resident()) << "nothing is in use";
}

TEST_F(BufferMemoryTest, uses_freed_blocks_again_and_asks_the_kernel_for_no_more) {
    auto const round = [&] {
        std::vector<Block> all;
        for (int i = 0; i < 200; ++i) {
            all.push_back(memory.allocate(16'384));
            all.push_back(memory.allocate(8));
            if (i % 20 == 0) all.push_back(memory.allocate(1 << 20));
        }
    };
    round();
    Bytes const first = memory.resident();
    EXPECT_GE(first, 13_MiB);
    EXPECT_LE(first, 14_MiB);
    for (int i = 0; i < 50; ++i)
        round();
    EXPECT_EQ(memory.resident(), first);
}

TEST_F(BufferMemoryTest, tells_the_budget_what_is_resident) {
    EXPECT_EQ(budget.resident(), 0_B);
    Block block = memory.allocate(1 << 20);
    EXPECT_GE(budget.resident(), 1_MiB);
    EXPECT_LE(budget.resident(), 1_MiB + 8_KiB);
    block.reset();
    memory.settle();
    EXPECT_GE(budget.resident(), 1_MiB) << "it is kept";
    {
        memory::BufferMemory other(budget);
        Block const more = other.allocate(100'000);
        EXPECT_GE(budget.resident(), 1_MiB + 100'000_B);
    }
    EXPECT_LE(budget.resident(), 1_MiB + 8_KiB);
}

TEST_F(BufferMemoryTest, gives_back_what_the_budget_has_no_room_for) {
    std::vector<Block> all;
    all.reserve(64);
    for (int i = 0; i < 64; ++i)
        all.push_back(memory.allocate(64 << 10));
    std::byte const* const some = all[20].get();
    Lease lease = *budget.try_lease(4_MiB, Purpose::fetched);
    all.clear();
    lease.release();
    memory.settle();
    EXPECT_GE(memory.kept(), 4_MiB);
    EXPECT_TRUE(is_mapped(some));
    budget.set_limit(1_MiB);
    memory.settle();
    EXPECT_LE(memory.kept(), 1_MiB);
    EXPECT_EQ(memory.kept(), memory.resident());
    EXPECT_EQ(budget.resident(), memory.resident());
    budget.set_limit(64_MiB);
    Lease const most = *budget.try_lease(64_MiB, Purpose::other);
    memory.settle();
    EXPECT_EQ(memory.resident(), 0_B);
    EXPECT_FALSE(is_mapped(some)) << "for good";
}

TEST_F(BufferMemoryTest, makes_room_for_a_new_kind_of_block_by_giving_back_what_is_kept) {
    budget.set_limit(4_MiB);
    std::vector<Block> small;
    small.reserve(200);
    for (int i = 0; i < 200; ++i)
        small.push_back(memory.allocate(16'384));
    small.clear();
    Lease const lease = *budget.try_lease(3_MiB, Purpose::fetched);
    Block const large = memory.allocate(3 << 20);
    EXPECT_LE(memory.resident(), 4_MiB + 512_KiB);
}

TEST_F(BufferMemoryTest, is_free_of_what_nobody_needs_for_long) {
    { Block const once = memory.allocate(8 << 20); }
    memory.settle();
    EXPECT_GE(memory.kept(), 8_MiB);
    // Two periods of a second pass: in the first one the memory was still in use at its beginning.
    while (memory.kept().count > 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        memory.settle();
    }
    EXPECT_EQ(memory.resident(), 0_B);
}

TEST_F(BufferMemoryTest, blocks_may_be_freed_by_any_thread_and_outlive_it) {
    std::optional<memory::BufferMemory> own(budget);
    std::vector<std::vector<Block>> parts(4);
    for (int i = 0; i < 4000; ++i) {
        Block block = own->allocate(i % 3 == 0 ? 100'000 : 3000);
        std::memset(block.get(), i, 8);
        parts[static_cast<std::size_t>(i % 4)].push_back(std::move(block));
    }
    std::vector<std::thread> threads;
    threads.reserve(parts.size());
    for (auto& part : parts)
        threads.emplace_back([&part] { part.clear(); });
    for (int i = 0; i < 2000; ++i)
        own->allocate(3000).reset();
    Block last = own->allocate(5000);
    own.reset();
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_GT(budget.resident(), 0_B);
    std::memset(last.get(), 1, 5000);
    last.reset();
    EXPECT_EQ(budget.resident(), 0_B);
}

TEST_F(BufferMemoryTest, has_none_where_the_kernel_has_none) {
    EXPECT_FALSE(memory.allocate(std::uint64_t{1} << 60));
    EXPECT_FALSE(memory.allocate(~std::uint64_t{0}));
    memory.fail_after(1, 2);
    EXPECT_TRUE(memory.allocate(10));
    EXPECT_FALSE(memory.allocate(10));
    EXPECT_FALSE(memory.allocate(10));
    EXPECT_TRUE(memory.allocate(10));
}

}  // namespace
}  // namespace sluice::fetch
