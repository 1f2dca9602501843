// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/thread/own_stack.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

namespace sluice::kernel {
namespace {

constexpr std::size_t k_bytes = std::size_t{1} << 20;

struct Use {
    std::size_t bytes = 0;
    std::uintptr_t at = 0;
};

/// Uses so much stack.
void use(void* argument) noexcept {
    auto& of = *static_cast<Use*>(argument);
    char volatile* const room = static_cast<char*>(__builtin_alloca(of.bytes));
    for (std::size_t i = 0; i < of.bytes; i += 512)
        room[i] = 1;
    of.at = reinterpret_cast<std::uintptr_t>(room);
}

void* run_on_little(void* argument) {
    on_own_stack(k_bytes, use, argument);
    return nullptr;
}

TEST(OwnStack, has_room_that_the_thread_lacks) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{64} << 10);
    pthread_t thread{};
    Use mine{k_bytes / 2};
    ASSERT_EQ(pthread_create(&thread, &attributes, run_on_little, &mine), 0);
    pthread_join(thread, nullptr);
    EXPECT_NE(mine.at, 0U);
}

TEST(OwnStack, many_threads_have_one_each) {
    std::vector<std::thread> threads;
    std::array<Use, 8> uses{};
    for (Use& one : uses)
        threads.emplace_back([&one] {
            for (one.bytes = 1024; one.bytes < k_bytes / 2; one.bytes *= 2)
                EXPECT_TRUE(on_own_stack(k_bytes, use, &one));
        });
    for (std::thread& one : threads)
        one.join();
    for (Use const& one : uses)
        EXPECT_NE(one.at, 0U);
}

TEST(OwnStack, an_exception_is_caught_where_it_is_thrown) {
    bool caught = false;
    auto const action = [](void* argument) noexcept {
        try {
            throw std::runtime_error("there");
        } catch (std::runtime_error const&) {
            *static_cast<bool*>(argument) = true;
        }
    };
    EXPECT_TRUE(on_own_stack(k_bytes, action, &caught));
    EXPECT_TRUE(caught);
}

TEST(OwnStack, errno_and_blocked_signals_stay) {
    sigset_t blocked, after;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
    errno = EDOM;
    Use mine{1024};
    EXPECT_TRUE(on_own_stack(k_bytes, use, &mine));
    EXPECT_EQ(errno, EDOM);
    pthread_sigmask(SIG_UNBLOCK, &blocked, &after);
    EXPECT_EQ(sigismember(&after, SIGUSR1), 1);
}

TEST(OwnStack, without_memory_nothing_is_run) {
    Use mine{1024};
    EXPECT_FALSE(on_own_stack(SIZE_MAX / 4, use, &mine));
    EXPECT_EQ(mine.at, 0U);
}

}  // namespace
}  // namespace sluice::kernel
