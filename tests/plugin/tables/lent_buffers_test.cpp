// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/open/lent_buffers.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstring>

namespace sluice::plugin {

namespace {

constexpr std::size_t k_bytes = 1 << 20;
constexpr std::uint64_t k_window = 100;  // an owner

/// Pages that were never touched.
class Fresh {
  public:
    Fresh()
        : begin_(static_cast<std::byte*>(
              mmap(nullptr, k_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        madvise(begin_, k_bytes, MADV_NOHUGEPAGE);
    }
    Fresh(Fresh const&) = delete;
    Fresh& operator=(Fresh const&) = delete;
    ~Fresh() { give_back(); }
    std::byte* begin() const noexcept { return begin_; }
    void touch(std::size_t from, std::size_t bytes) const noexcept { std::memset(begin_ + from, 1, bytes); }
    void give_back() const noexcept { munmap(begin_, k_bytes); }

  private:
    std::byte* begin_;
};

TEST(LentBuffers, pages_that_came_without_a_look_are_found_once) {
    Fresh const memory;
    LentBuffers lent;
    lent.lend_without_look(memory.begin(), k_bytes / 2, k_bytes / 2);
    lent.lend_without_look(memory.begin(), k_bytes, k_bytes);
    EXPECT_TRUE(lent.has_without_look(memory.begin() + 8192, k_bytes / 2));
    EXPECT_FALSE(lent.has_without_look(memory.begin() + 8192, k_bytes));
    memory.touch(0, k_bytes / 2);
    EXPECT_EQ(lent.come(), k_bytes / 2);
    EXPECT_EQ(lent.find(), k_bytes / 2);
    EXPECT_EQ(lent.find() + lent.come(), 0U);
}

TEST(LentBuffers, memory_that_the_program_gave_back_brings_nothing) {
    Fresh const memory;
    LentBuffers lent;
    lent.lend_without_look(memory.begin(), k_bytes, k_bytes);
    memory.give_back();
    EXPECT_EQ(lent.come(), 0U);
    EXPECT_EQ(lent.find(), 0U);
    EXPECT_FALSE(lent.has_without_look(memory.begin(), k_bytes));
}

TEST(LentBuffers, the_oldest_without_a_look_goes) {
    LentBuffers lent;
    auto* const address = reinterpret_cast<std::byte*>(k_bytes);
    for (std::uint32_t i = 0; i <= LentBuffers::k_unlooked; ++i)
        lent.lend_without_look(address + i * k_bytes, k_bytes, k_bytes);
    EXPECT_FALSE(lent.has_without_look(address, k_bytes));
    for (std::uint32_t i = 1; i <= LentBuffers::k_unlooked; ++i)
        EXPECT_TRUE(lent.has_without_look(address + i * k_bytes, k_bytes));
}

TEST(LentBuffers, an_owner_that_gives_back_one_buffer_looks_at_that_one) {
    Fresh const one;
    Fresh const other;
    LentBuffers lent;
    LookShare share(1);
    lent.lend(k_window, one.begin(), k_bytes, k_bytes);
    lent.lend(k_window, other.begin(), k_bytes, k_bytes);
    one.touch(0, k_bytes);
    other.touch(0, k_bytes);
    EXPECT_EQ(lent.find(k_window, other.begin(), share), k_bytes);
    share.looked(ticks(), std::uint64_t{1} << 40);
    EXPECT_EQ(lent.find(k_window, nullptr, share), 0U) << "there is no time";
    LookShare another(1);
    EXPECT_EQ(lent.find(k_window, nullptr, another), k_bytes);
}

}  // namespace

}  // namespace sluice::plugin
