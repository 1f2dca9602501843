// SPDX-License-Identifier: BSD-3-Clause
/// Memory hooks of communication libraries are told where pages leave an address. This program has a hook of its own:
/// functions in front of libc's.
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>
#include <fstream>

#include "kernel/guards/pages_of_test.hpp"

namespace {

struct Told {
    std::byte* from = nullptr;
    std::size_t bytes = 0;
    bool was_mapped = false;
};
std::vector<Told> g_unmapped, g_dropped;

Told told(void* from, std::size_t bytes) {
    unsigned char in_memory = 0;
    return {static_cast<std::byte*>(from), bytes, mincore(from, 1, &in_memory) == 0};
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int munmap(void* from, std::size_t bytes) noexcept {
    g_unmapped.push_back(told(from, bytes));
    return static_cast<int>(syscall(SYS_munmap, from, bytes));
}

extern "C" __attribute__((visibility("default"))) int madvise(void* from, std::size_t bytes, int advice) noexcept {
    if (advice == MADV_DONTNEED) g_dropped.push_back(told(from, bytes));
    return static_cast<int>(syscall(SYS_madvise, from, bytes, advice));
}

namespace sluice::kernel {
namespace {

using tests::k_page;
using tests::Pages;

std::size_t times(std::vector<Told> const& all, std::byte* from, std::size_t bytes) {
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](Told const& each) {
        return each.from == from && each.bytes == bytes && each.was_mapped;
    }));
}

class Hooks : public testing::TestWithParam<Rung> {};

INSTANTIATE_TEST_SUITE_P(Each, Hooks, testing::Values(Rung::copy, Rung::move, Rung::remap),
                         [](auto const& rung) { return std::string(name_of(rung.param)); });

TEST_P(Hooks, are_told_of_the_addresses_aside_before_they_are_free) {
    GuardedPages guards(GetParam());
    SLUICE_NEEDS_RUNG(guards, GetParam());
    Pages const pages(12);
    pages.fill(std::byte{1});
    for (int round = 0; round < 3; ++round) {
        auto const taken = guards.take_aside(pages.page(3), 5 * k_page);
        ASSERT_TRUE(taken);
        g_unmapped.clear();
        g_dropped.clear();
        guards.give_back(*taken);
        EXPECT_EQ(times(g_unmapped, taken->aside, taken->bytes), 1U);
        EXPECT_EQ(times(g_unmapped, taken->pages, taken->bytes), 0U);
        // Copies are other pages than those that a library may have registered at the program's address.
        EXPECT_EQ(times(g_dropped, taken->pages, taken->bytes), GetParam() == Rung::copy ? 1U : 0U);
        EXPECT_EQ(pages.page(4)[7], std::byte{1});
    }
}

/// No address is left to which the pages could move on.
TEST(Hooks, are_told_where_addresses_are_short) {
    GuardedPages guards(Rung::remap);
    SLUICE_NEEDS_RUNG(guards, Rung::remap);
    Pages const pages(12);
    pages.fill(std::byte{1});
    auto const taken = guards.take_aside(pages.page(3), 5 * k_page);
    ASSERT_TRUE(taken);
    g_unmapped.clear();
    g_unmapped.reserve(100);
    std::uint64_t mapped = 0;
    std::ifstream("/proc/self/statm") >> mapped;
    rlimit before{};
    getrlimit(RLIMIT_AS, &before);
    rlimit const tight{mapped * k_page, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
    guards.give_back(*taken);
    setrlimit(RLIMIT_AS, &before);
    EXPECT_EQ(times(g_unmapped, taken->aside, taken->bytes), 1U);
    EXPECT_EQ(guards.given_back_by(Rung::remap), 1U);
    EXPECT_EQ(pages.page(4)[7], std::byte{1});
}

}  // namespace
}  // namespace sluice::kernel
