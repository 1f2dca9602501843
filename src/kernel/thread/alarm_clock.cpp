// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/thread/alarm_clock.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>

#include "sluice/error.hpp"

namespace sluice::kernel {

namespace {

constexpr std::uint64_t k_bell = ~std::uint64_t{0};
constexpr std::uint64_t k_timer = k_bell - 1;
// A thread that sleeps while the program closes all descriptors, as daemons do, can no longer be woken by them.
constexpr int k_longest_sleep_ms = 1000;

Descriptor made(int number, char const* what) {
    Descriptor descriptor = out_of_the_way(number);
    if (!descriptor.is_open())
        throw Error(ErrorCode::unsupported, std::string("the helper thread cannot wait for descriptors: ") + what +
                                                ": " + std::strerror(errno));
    return descriptor;
}

/// Of CLOCK_MONOTONIC, which is the clock's own; 0 sets no time.
itimerspec at(std::chrono::nanoseconds since_start) {
    auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(since_start);
    itimerspec time{};
    time.it_value.tv_sec = static_cast<time_t>(seconds.count());
    time.it_value.tv_nsec = static_cast<long>((since_start - seconds).count());
    return time;
}

}  // namespace

void AlarmClock::make_descriptors() {
    epoll_ = made(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    bell_ = made(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd");
    timer_ = made(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd_create");
    add(bell_.get(), k_bell);
    add(timer_.get(), k_timer);
}

void AlarmClock::listen_to(int descriptor, std::uint64_t number) {
    if (listens_.load(std::memory_order_relaxed)) return add(descriptor, number);
    make_descriptors();
    add(descriptor, number);
    listens_.store(true, std::memory_order_release);
}

void AlarmClock::add(int descriptor, std::uint64_t number) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = number;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0)
        throw Error(ErrorCode::unsupported, "the helper thread cannot wait for descriptor " +
                                                std::to_string(descriptor) + ": " + std::strerror(errno));
}

void AlarmClock::forget(int descriptor) noexcept {
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
}

void AlarmClock::ring() noexcept {
    {
        std::lock_guard const lock(mutex_);
        is_called_ = true;
    }
    called_.notify_one();
    if (!listens_.load(std::memory_order_acquire)) return;
    std::uint64_t const once = 1;
    [[maybe_unused]] auto const written = write(bell_.get(), &once, sizeof once);  // fails if it rings already
}

void AlarmClock::silence() noexcept {
    std::uint64_t times = 0;
    [[maybe_unused]] auto const had = read(bell_.get(), &times, sizeof times);
}

/// Setting the timer anew also makes it unreadable.
AlarmClock::News AlarmClock::sleep_until(Clock::time_point until) noexcept {
    if (!listens_.load(std::memory_order_acquire)) {
        std::unique_lock lock(mutex_);
        called_.wait_until(lock, until, [this] { return is_called_; });
        is_called_ = false;
        return {};
    }
    if (until != set_to_) {
        bool const never = until == Clock::time_point::max();
        itimerspec const time = never ? itimerspec{} : at(until.time_since_epoch());
        timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &time, nullptr);
        set_to_ = until;
    }
    return wait(k_longest_sleep_ms);
}

AlarmClock::News AlarmClock::look() noexcept {
    return listens_.load(std::memory_order_acquire) ? wait(0) : News{};
}

AlarmClock::News AlarmClock::wait(int milliseconds) noexcept {
    std::array<epoll_event, std::tuple_size_v<decltype(News::told)>> events;
    int const count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), milliseconds);
    // Without descriptors the thread looks at the time every millisecond.
    if (count < 0 && errno != EINTR && milliseconds != 0) poll(nullptr, 0, 1);
    News news;
    for (int i = 0; i < count; ++i) {
        epoll_event const& event = events[static_cast<std::size_t>(i)];
        if (event.data.u64 == k_bell)
            silence();
        else if (event.data.u64 != k_timer)
            news.told[news.count++] = {event.data.u64, (event.events & EPOLLIN) == 0};
    }
    return news;
}

void AlarmClock::abandon() noexcept {
    epoll_.reset();
    bell_.reset();
    timer_.reset();
}

}  // namespace sluice::kernel
