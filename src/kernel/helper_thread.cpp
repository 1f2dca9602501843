// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/helper_thread.hpp"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <string>
#include <system_error>

#include "kernel/signals_blocked.hpp"
#include "sluice/error.hpp"

namespace sluice::kernel {

namespace {

constexpr HelperThread::Clock::duration k_longest_pause = std::chrono::hours(24);  // so that no sum of times overflows

}  // namespace

HelperThread::~HelperThread() {
    {
        std::lock_guard const lock(mutex_);
        ends_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

HelperThread::Entry* HelperThread::find(Job const& job) noexcept {
    auto const at = std::ranges::find(entries_, &job, &Entry::job);
    return at == entries_.end() ? nullptr : &*at;
}

void HelperThread::add(Job& job) {
    std::lock_guard const lock(mutex_);
    if (!thread_.joinable()) try {
            SignalsBlocked const blocked;
            thread_ = std::thread([this] { live(); });
        } catch (std::system_error const& error) {
            throw Error(ErrorCode::unsupported, std::string("the helper thread cannot be made: ") + error.what());
        }
    entries_.push_back({&job, Clock::now()});
    changed_.notify_all();
}

void HelperThread::remove(Job& job) noexcept {
    std::unique_lock lock(mutex_);
    std::erase_if(entries_, [&](Entry const& entry) { return entry.job == &job; });
    changed_.wait(lock, [&] { return running_ != &job; });
}

void HelperThread::wake(Job& job) noexcept {
    std::lock_guard const lock(mutex_);
    if (Entry* const entry = find(job)) entry->due = Clock::now();
    changed_.notify_all();
}

void HelperThread::live() {
    pthread_setname_np(pthread_self(), "sluice-helper");
    prctl(PR_SET_TIMERSLACK, 1000UL);  // in ns; the kernel's default of 50 µs is as long as the waits themselves
    std::unique_lock lock(mutex_);
    while (!ends_) {
        auto const next = std::ranges::min_element(entries_, {}, &Entry::due);
        if (next == entries_.end()) {
            changed_.wait(lock);
            continue;
        }
        if (next->due > Clock::now()) {
            changed_.wait_until(lock, Clock::time_point(next->due));
            continue;
        }
        Job& job = *next->job;
        running_ = &job;
        next->due = Clock::time_point::max();  // wake() during the run makes it due again
        lock.unlock();
        Clock::duration const pause = job.run();
        lock.lock();
        running_ = nullptr;
        if (Entry* const entry = find(job))
            entry->due = std::min(entry->due, Clock::now() + std::min(pause, k_longest_pause));
        changed_.notify_all();
    }
}

}  // namespace sluice::kernel
