// SPDX-License-Identifier: BSD-3-Clause
#include "budget/usage_events.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <system_error>
#include <utility>

#include "kernel/thread/make_thread.hpp"

namespace sluice::budget {

namespace {

constexpr unsigned k_marks = 6;  // the last mark leaves M/64, which is the automatic reserve of an M up to 16 GiB

int open_in(std::string const& folder, char const* file, int how) {
    return open((folder + file).c_str(), how | O_CLOEXEC);
}

/// Reads pending events, so that only later ones count; a file that was just opened always reports one.
bool read_news(int file) noexcept {
    std::array<char, 512> room;
    return pread(file, room.data(), room.size(), 0) > 0;
}

void close_if_open(int file) noexcept {
    if (file >= 0) close(file);
}

}  // namespace

UsageEvents::UsageEvents(MemoryPlace const& group, unsigned turn)
    : has_marks_(group.kind == MemoryPlace::Kind::cgroup_v1), begin_at_(Clock::now() + (turn + 1) * k_settling) {
    if (!has_marks_) {
        event_ = open_in(group.folder, "/memory.events", O_RDONLY);
        if (event_ >= 0) read_news(event_);
        return;
    }
    control_ = open_in(group.folder, "/cgroup.event_control", O_WRONLY);
    if (control_ >= 0) usage_ = open_in(group.folder, "/memory.usage_in_bytes", O_RDONLY);
}

UsageEvents::~UsageEvents() {
    ends_.store(true, std::memory_order_relaxed);
    wait_for_marks();
    close_if_open(event_);
    close_if_open(usage_);
    close_if_open(control_);
}

/// A child of fork() does not have its parent's thread.
void UsageEvents::wait_for_marks() noexcept {
    if (!marking_.joinable()) return;
    if (getpid() == marker_)
        marking_.join();
    else
        marking_.detach();
}

void UsageEvents::follow(Bytes limit) noexcept {
    if (usage_ < 0 || limit == marked_ || is_marking_.load(std::memory_order_acquire) || Clock::now() < begin_at_)
        return;
    wait_for_marks();
    // If no thread can be made, it is not tried again.
    if (!start_to_mark(limit)) close_if_open(std::exchange(usage_, -1));
}

bool UsageEvents::start_to_mark(Bytes limit) noexcept {
    // Closing the old descriptor removes its marks.
    close_if_open(event_);
    event_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (event_ < 0) return false;
    marked_ = limit;
    marks_.store(0, std::memory_order_relaxed);
    is_marking_.store(true, std::memory_order_relaxed);
    try {
        kernel::SignalsBlocked const blocked;
        marking_ = std::thread([this, limit, event = event_] { mark(limit, event); });
        marker_ = getpid();
    } catch (std::system_error const&) {
        is_marking_.store(false, std::memory_order_relaxed);
        return false;
    }
    return true;
}

/// Sets the mark nearest to the limit first.
void UsageEvents::mark(Bytes limit, int event) noexcept {
    pthread_setname_np(pthread_self(), "sluice-events");
    for (unsigned left = k_marks; left > 0 && !ends_.load(std::memory_order_relaxed); --left) {
        std::array<char, 64> room;
        int const length = std::snprintf(room.data(), room.size(), "%d %d %llu", event, usage_,
                                         static_cast<unsigned long long>(limit.count - (limit.count >> left)));
        if (write(control_, room.data(), static_cast<std::size_t>(length)) != length) break;
        marks_.fetch_add(1, std::memory_order_relaxed);
    }
    is_marking_.store(false, std::memory_order_release);
}

bool UsageEvents::told() noexcept {
    if (event_ < 0) return false;
    if (has_marks_) {
        std::uint64_t times = 0;
        return read(event_, &times, sizeof times) == sizeof times;
    }
    pollfd waiting{event_, POLLPRI, 0};
    return poll(&waiting, 1, 0) == 1 && (waiting.revents & POLLPRI) != 0 && read_news(event_);
}

bool UsageEvents::is_listening() const noexcept {
    return has_marks_ ? marks_.load(std::memory_order_relaxed) == k_marks : event_ >= 0;
}

}  // namespace sluice::budget
