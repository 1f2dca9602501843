// SPDX-License-Identifier: BSD-3-Clause
#include "budget/usage_events.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

namespace sluice::budget {

namespace {

kernel::Descriptor open_in(std::string const& folder, char const* file, int how) {
    return kernel::out_of_the_way(open((folder + file).c_str(), how | O_CLOEXEC));
}

/// Reads pending news so that only later ones count; a file just opened always has some.
bool read_news(int file) noexcept {
    std::array<char, 512> room;
    return pread(file, room.data(), room.size(), 0) > 0;
}

}  // namespace

UsageEvents::UsageEvents(MemoryPlace const& group, std::shared_ptr<kernel::HelperThread> helper, unsigned turn)
    : helper_(std::move(helper)),
      has_marks_(group.kind == MemoryPlace::Kind::cgroup_v1),
      begin_at_(Clock::now() + (turn + 1) * k_settling) {
    if (!has_marks_) {
        event_ = open_in(group.folder, "/memory.events", O_RDONLY);
        if (event_.is_open()) read_news(event_.get());
        return;
    }
    control_ = open_in(group.folder, "/cgroup.event_control", O_WRONLY);
    if (control_.is_open()) usage_ = open_in(group.folder, "/memory.usage_in_bytes", O_RDONLY);
}

UsageEvents::~UsageEvents() {
    helper_->remove(*this);
}

void UsageEvents::follow(Bytes limit) noexcept {
    if (!usage_.is_open() || limit == marked_ || is_marking_.load(std::memory_order_acquire) ||
        Clock::now() < begin_at_)
        return;
    // If no thread can be made, it is not tried again.
    if (!start_to_mark(limit)) usage_.reset();
}

bool UsageEvents::start_to_mark(Bytes limit) noexcept {
    // Closing the old descriptor removes its marks.
    event_.reset();
    event_ = kernel::out_of_the_way(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!event_.is_open()) return false;
    marked_ = limit;
    marks_.store(0, std::memory_order_relaxed);
    is_marking_.store(true, std::memory_order_release);
    try {
        helper_->add(*this);
    } catch (std::exception const&) {
        is_marking_.store(false, std::memory_order_relaxed);
        return false;
    }
    return true;
}

kernel::HelperThread::Clock::duration UsageEvents::run() noexcept {
    if (!is_marking_.load(std::memory_order_acquire)) return kernel::HelperThread::k_until_woken;
    if (set_mark() && marks() < k_marks) return kernel::HelperThread::Clock::duration::zero();
    is_marking_.store(false, std::memory_order_release);
    return kernel::HelperThread::k_until_woken;
}

/// The mark nearest to the limit comes first.
bool UsageEvents::set_mark() noexcept {
    unsigned const left = k_marks - marks();
    std::array<char, 64> room;
    int const length = std::snprintf(room.data(), room.size(), "%d %d %llu", event_.get(), usage_.get(),
                                     static_cast<unsigned long long>(marked_.count - (marked_.count >> left)));
    if (write(control_.get(), room.data(), static_cast<std::size_t>(length)) != length) return false;
    marks_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

bool UsageEvents::told() noexcept {
    if (!event_.is_open()) return false;
    if (has_marks_) {
        std::uint64_t times = 0;
        return read(event_.get(), &times, sizeof times) == sizeof times;
    }
    pollfd waiting{event_.get(), POLLPRI, 0};
    return poll(&waiting, 1, 0) == 1 && (waiting.revents & POLLPRI) != 0 && read_news(event_.get());
}

bool UsageEvents::is_listening() const noexcept {
    return has_marks_ ? marks() == k_marks : event_.is_open();
}

}  // namespace sluice::budget
