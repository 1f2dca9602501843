// SPDX-License-Identifier: BSD-3-Clause
/// Jobs of the helper thread for tests.
#pragma once

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include "kernel/files/descriptor.hpp"
#include "kernel/helper_thread.hpp"

namespace sluice::kernel {

template <typename Condition>
void wait_until(Condition const& condition) {
    while (!condition())
        std::this_thread::yield();
}

/// Counts its runs; each run tells when it wants the next one.
struct Counting : HelperThread::Job {
    std::atomic<int> runs{0};
    std::atomic<HelperThread::Clock::duration> pause{std::chrono::microseconds(1)};
    HelperThread::Clock::duration run() noexcept override {
        ++runs;
        return pause;
    }
    void wait_for(int number) const {
        wait_until([&] { return runs >= number; });
    }
};

/// Wants to run only if its descriptor is readable.
struct Reading final : Counting {
    Descriptor event{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    std::atomic<std::uint64_t> sum{0};
    Reading() { pause = HelperThread::k_until_woken; }
    int descriptor() const noexcept override { return event.get(); }
    HelperThread::Clock::duration run() noexcept override {
        std::uint64_t value = 0;
        if (read(event.get(), &value, sizeof value) == sizeof value) sum += value;
        return Counting::run();
    }
    void tell(std::uint64_t value) const { EXPECT_EQ(write(event.get(), &value, sizeof value), sizeof value); }
};

/// Each run calls the function.
template <typename Function>
struct Doing final : HelperThread::Job {
    explicit Doing(Function does) : does_(std::move(does)) {}
    HelperThread::Clock::duration run() noexcept override { return does_(); }
    Function does_;
};

}  // namespace sluice::kernel
