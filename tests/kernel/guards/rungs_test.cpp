// SPDX-License-Identifier: BSD-3-Clause
/// Guarded pages, with each way back: what arrives is there, what does not is as it was, and the mappings stay whole.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "kernel/guards/pages_of_test.hpp"

namespace sluice::kernel {
namespace {

using tests::k_page;
using tests::Pages;

class Rungs : public testing::TestWithParam<Rung> {
  protected:
    void SetUp() override { SLUICE_NEEDS_RUNG(guards_, GetParam()); }
    void TearDown() override {
        if (!IsSkipped()) {
            EXPECT_EQ(guards_.why_not(), "");
        }
    }
    /// Takes pages aside that can be.
    Aside take(std::byte* pages, std::size_t count) {
        Refusal why = Refusal::none;
        auto const taken = guards_.take_aside(pages, count * k_page, &why);
        EXPECT_TRUE(taken) << name_of(why);
        return taken.value_or(Aside{pages, pages, 0});
    }
    GuardedPages guards_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Each, Rungs, testing::Values(Rung::copy, Rung::move, Rung::remap),
                         [](auto const& rung) { return std::string(name_of(rung.param)); });

TEST_P(Rungs, random_ranges_hold_what_was_written_and_else_what_was_there) {
    std::mt19937 random(7);
    Pages const pages(96);
    std::vector<std::byte> expected(pages.bytes());
    auto const draw = [&](std::size_t below) {
        return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
    };
    for (int round = 0; round < 400; ++round) {
        std::size_t const first = draw(95), count = 1 + draw(96 - first);
        Aside const taken = take(pages.page(first), count);
        std::size_t const from = draw(count * k_page), bytes = draw(count * k_page - from + 1);
        auto const value = static_cast<std::byte>(1 + draw(255));
        std::memset(taken.aside + from, static_cast<int>(value), bytes);
        std::memset(expected.data() + first * k_page + from, static_cast<int>(value), bytes);
        guards_.give_back(taken);
        ASSERT_EQ(std::memcmp(pages.page(0), expected.data(), pages.bytes()), 0) << "round " << round;
    }
    EXPECT_EQ(guards_.given_back_by(GetParam()), 400U);
}

TEST_P(Rungs, a_thread_that_touches_a_guarded_page_waits_for_it_and_is_reported) {
    Pages const pages(8);
    pages.fill(std::byte{1});
    Aside const taken = take(pages.page(2), 4);
    std::atomic<int> seen{0};
    std::atomic<pid_t> id{0};
    std::thread reader([&] {
        id = gettid();
        seen = static_cast<int>(pages.page(3)[5]);
    });
    pollfd waits{guards_.descriptor(), POLLIN, 0};
    ASSERT_EQ(poll(&waits, 1, -1), 1);
    auto const fault = guards_.next_fault();
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->address, pages.page(3));
    EXPECT_TRUE(fault->thread == 0 || fault->thread == id) << fault->thread;
    EXPECT_FALSE(guards_.next_fault());
    EXPECT_EQ(seen, 0);
    taken.aside[k_page + 5] = std::byte{9};
    guards_.give_back(taken);
    reader.join();
    EXPECT_EQ(seen, 9);
    EXPECT_EQ(pages.page(3)[6], std::byte{1});
}

TEST_P(Rungs, a_thread_that_waits_for_a_page_without_content_reads_zeros) {
    Pages const pages(8);
    Aside const taken = take(pages.page(2), 4);
    std::atomic<int> seen{-1};
    std::thread reader([&] { seen = static_cast<int>(pages.page(5)[0]); });
    pollfd waits{guards_.descriptor(), POLLIN, 0};
    ASSERT_EQ(poll(&waits, 1, -1), 1);
    taken.aside[0] = std::byte{9};
    guards_.give_back(taken);
    reader.join();
    EXPECT_EQ(seen, 0);
    EXPECT_EQ(pages.page(2)[0], std::byte{9});
}

TEST_P(Rungs, calls_of_the_system_wait_for_guarded_pages) {
    Pages const pages(8);
    pages.fill(std::byte{1});
    std::array<int, 2> out{}, in{};
    ASSERT_EQ(pipe(out.data()), 0);
    ASSERT_EQ(pipe(in.data()), 0);
    ASSERT_EQ(write(in[1], "abc", 3), 3);
    Aside const taken = take(pages.page(2), 4);
    std::thread writer([&] { EXPECT_EQ(write(out[1], pages.page(2), k_page), static_cast<ssize_t>(k_page)); });
    std::thread reader([&] { EXPECT_EQ(read(in[0], pages.page(4), 3), 3); });
    for (int waiting = 0; waiting < 2; ++waiting) {
        pollfd waits{guards_.descriptor(), POLLIN, 0};
        ASSERT_EQ(poll(&waits, 1, -1), 1);
        ASSERT_TRUE(guards_.next_fault());
    }
    std::memset(taken.aside, 7, 4 * k_page);
    guards_.give_back(taken);
    writer.join();
    reader.join();
    std::vector<std::byte> got(k_page);
    ASSERT_EQ(read(out[0], got.data(), got.size()), static_cast<ssize_t>(k_page));
    EXPECT_EQ(got, std::vector(k_page, std::byte{7}));
    EXPECT_EQ(std::memcmp(pages.page(4), "abc\7", 4), 0);
    for (int const end : {out[0], out[1], in[0], in[1]})
        close(end);
}

TEST_P(Rungs, threads_that_touch_at_random_see_only_what_was_written) {
    Pages const pages(64);
    std::atomic<bool> ends{false};
    std::atomic<std::uint64_t> reads{0};
    std::atomic<int> wrong{0};
    std::atomic<int> round{0};
    auto const touch = [&](unsigned seed) {
        std::mt19937 random(seed);
        while (!ends) {
            int const before = round.load();
            auto const* const at = pages.page(random() % 64) + 8 * (random() % 512);
            std::uint64_t const value = __atomic_load_n(reinterpret_cast<std::uint64_t const*>(at), __ATOMIC_ACQUIRE);
            if (value + 1 < static_cast<std::uint64_t>(before) || value > static_cast<std::uint64_t>(round.load()))
                ++wrong;
            ++reads;
        }
    };
    std::array readers{std::thread(touch, 1), std::thread(touch, 2)};
    for (std::uint64_t i = 1; i <= 300; ++i) {
        Aside const taken = take(pages.page(0), 64);
        round = static_cast<int>(i);
        for (std::size_t at = 0; at < pages.bytes(); at += 8)
            std::memcpy(taken.aside + at, &i, sizeof i);
        guards_.give_back(taken);
    }
    while (reads < 1000) {
    }
    ends = true;
    for (std::thread& reader : readers)
        reader.join();
    EXPECT_EQ(wrong, 0);
}

TEST_P(Rungs, many_rounds_leave_mappings_and_memory_as_they_were) {
    Pages const pages(64);
    pages.fill(std::byte{1});
    tests::count_mappings();  // what the count itself needs is there
    std::size_t const mappings = tests::count_mappings();
    std::uint64_t memory = 0;
    for (int i = 0; i < 10'000; ++i) {
        // Beside another guard, beside plain pages, and at both ends of the mapping.
        std::size_t const first = static_cast<std::size_t>(i) % 4 * 16;
        if (i == 100) memory = tests::rollup("Rss:");
        Aside const left = take(pages.page(first), 8);
        Aside const right = take(pages.page(first + 8), 8);
        left.aside[0] = right.aside[0] = static_cast<std::byte>(i);
        guards_.give_back(i % 2 == 0 ? left : right);
        guards_.give_back(i % 2 == 0 ? right : left);
    }
    EXPECT_EQ(tests::count_mappings(), mappings);
    EXPECT_LE(tests::rollup("Rss:"), memory + (256 << 10));
}

TEST_P(Rungs, rounds_on_pages_that_nothing_has_written_leave_the_mappings_as_they_were) {
    std::size_t mappings = 0;
    Pages const pages(4096);
    for (int i = 0; i < 200; ++i) {
        Aside const left = take(pages.page(static_cast<std::size_t>(i) * 20 + 5), 5);
        Aside const right = take(pages.page(static_cast<std::size_t>(i) * 20 + 12), 5);
        left.aside[0] = right.aside[4 * k_page] = std::byte{1};
        guards_.give_back(left);
        guards_.give_back(right);
        if (i == 0) mappings = tests::count_mappings();
    }
    EXPECT_EQ(tests::count_mappings(), mappings);
}

TEST_P(Rungs, huge_pages_stay_huge) {
    constexpr std::size_t huge = 2 << 20;
    Pages const pages(5 * huge / k_page);
    if (madvise(pages.page(0), pages.bytes(), MADV_HUGEPAGE) != 0) GTEST_SKIP() << "this kernel has no huge pages";
    auto* const begin = pages.page(0) + (huge - reinterpret_cast<std::uintptr_t>(pages.page(0)) % huge) % huge;
    pages.fill(std::byte{1});
    std::uint64_t const before = tests::rollup("AnonHugePages:");
    if (before < 3 * huge) GTEST_SKIP() << "the kernel made no huge pages";
    for (int i = 0; i < 10; ++i) {
        Aside const taken = take(begin, 2 * huge / k_page);
        std::memset(taken.aside, i, taken.bytes);
        guards_.give_back(taken);
    }
    // A copy is made of single pages; they become huge again when the kernel finds the time.
    std::uint64_t const lost = GetParam() == Rung::copy ? 2 * huge : 0;
    EXPECT_GE(tests::rollup("AnonHugePages:") + lost, before);
}

TEST_P(Rungs, pages_that_a_child_shares_since_a_fork_come_back) {
    Pages const pages(8);
    pages.fill(std::byte{3});
    std::array<int, 2> end{};
    ASSERT_EQ(pipe(end.data()), 0);
    pid_t const child = fork();
    if (child == 0) {
        char byte = 0;
        close(end[1]);
        _exit(read(end[0], &byte, 1) == 0 && pages.page(3)[0] == std::byte{3} ? 0 : 1);
    }
    Aside const taken = take(pages.page(2), 4);
    taken.aside[0] = std::byte{9};  // the other pages stay those of the child, too
    guards_.give_back(taken);
    EXPECT_EQ(pages.page(2)[0], std::byte{9});
    EXPECT_EQ(pages.page(3)[0], std::byte{3});
    pages.page(3)[0] = std::byte{4};
    close(end[1]);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    close(end[0]);
}

TEST_P(Rungs, pinned_pages_come_back_as_the_same_pages) {
    Pages const pages(8);
    pages.fill(std::byte{3});
    Aside const taken = take(pages.page(2), 4);
    std::array<int, 2> pipes{};
    ASSERT_EQ(pipe(pipes.data()), 0);
    iovec const range{taken.aside + k_page, k_page};
    ASSERT_EQ(vmsplice(pipes[1], &range, 1, 0), static_cast<ssize_t>(k_page));
    taken.aside[0] = std::byte{9};
    guards_.give_back(taken);
    EXPECT_EQ(pages.page(2)[0], std::byte{9});
    EXPECT_EQ(pages.page(3)[0], std::byte{3});
    if (GetParam() != Rung::copy) {  // what is written now is what the pipe holds
        pages.page(3)[0] = std::byte{5};
        std::byte got{};
        EXPECT_EQ(read(pipes[0], &got, 1), 1);
        EXPECT_EQ(got, std::byte{5});
    }
    close(pipes[0]);
    close(pipes[1]);
}

TEST_P(Rungs, pages_aside_that_were_split_into_several_mappings_come_back) {
    Pages const pages(32);
    pages.fill(std::byte{3});
    Aside const taken = take(pages.page(4), 16);
    ASSERT_EQ(madvise(taken.aside + 4 * k_page, 4 * k_page, MADV_DONTFORK), 0);
    std::memset(taken.aside, 9, taken.bytes);
    guards_.give_back(taken);
    EXPECT_EQ(std::memcmp(pages.page(3) + k_page - 1, "\3\11", 2), 0);
    for (std::size_t page = 4; page < 20; ++page)
        ASSERT_EQ(pages.page(page)[100], std::byte{9}) << page;
    EXPECT_EQ(pages.page(20)[0], std::byte{3});
}

/// Libraries of RDMA devices keep what they register from children.
TEST_P(Rungs, children_have_pages_that_were_kept_from_them_while_they_were_aside) {
    Pages const pages(32);
    Aside const taken = take(pages.page(4), 16);
    ASSERT_EQ(madvise(taken.aside, taken.bytes, MADV_DONTFORK), 0);
    std::memset(taken.aside, 9, taken.bytes);
    guards_.give_back(taken);
    pid_t const child = fork();
    if (child == 0)
        _exit(msync(pages.page(4), 16 * k_page, MS_ASYNC) == 0 && pages.page(19)[0] == std::byte{9} ? 0 : 1);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

/// Communication libraries split what they register.
TEST_P(Rungs, no_page_is_missing_while_pages_that_were_split_come_back) {
    Pages const pages(32);
    pages.fill(std::byte{3});
    std::array<int, 2> pipes{};
    ASSERT_EQ(pipe2(pipes.data(), O_NONBLOCK), 0);
    std::atomic<bool> ends{false};
    std::atomic<int> missing{0};
    std::thread toucher([&] {
        while (!ends.load()) {
            std::byte got{};
            for (std::size_t const page : {4U, 19U})  // each waits while it is guarded
                if (write(pipes[1], pages.page(page), 1) < 0 && errno == EFAULT) ++missing;
            while (read(pipes[0], &got, 1) == 1) {
            }
        }
    });
    for (int round = 0; round < 300; ++round) {
        Aside const taken = take(pages.page(4), 16);
        madvise(taken.aside + 4 * k_page, 4 * k_page, MADV_DONTFORK);
        madvise(taken.aside + 10 * k_page, 2 * k_page, MADV_DONTFORK);
        guards_.give_back(taken);
        madvise(pages.page(4), 16 * k_page, MADV_DOFORK);
    }
    ends = true;
    toucher.join();
    EXPECT_EQ(missing.load(), 0);
    close(pipes[0]);
    close(pipes[1]);
}

TEST_P(Rungs, each_kind_of_private_memory_can_be_guarded) {
    static std::array<std::byte, 16 * k_page> zeroed;  // bss
    std::array<std::byte, 16 * k_page> automatic{};
    auto* const grown = static_cast<std::byte*>(sbrk(16 * k_page));
    for (std::byte* const memory : {zeroed.data(), automatic.data(), grown}) {
        auto* const page = memory + (k_page - reinterpret_cast<std::uintptr_t>(memory) % k_page);
        page[0] = std::byte{1};
        Aside const taken = take(page, 8);
        taken.aside[1] = std::byte{2};
        guards_.give_back(taken);
        EXPECT_EQ(page[0], std::byte{1});
        EXPECT_EQ(page[1], std::byte{2});
    }
}

}  // namespace
}  // namespace sluice::kernel
