// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/registration/mapping_watch.hpp"

#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "kernel/guards/userfaultfd.hpp"

namespace sluice::plugin {

namespace {

constexpr std::uint64_t k_events = UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE;

}  // namespace

MappingWatch::Lock::Lock(std::atomic_flag& held) noexcept : held_(held) {
    while (held_.test_and_set(std::memory_order_acquire))
        pause();
}

void MappingWatch::pause() noexcept {
    sched_yield();
}

std::string MappingWatch::open(Listener& listener) {
    // Only events are wanted, no faults, so the mode that needs no privilege does.
    kernel::Descriptor opened = kernel::open_userfaultfd(kernel::FaultsOf::user_mode);
    if (!opened.is_open()) opened = kernel::open_userfaultfd(kernel::FaultsOf::every_access);
    if (!opened.is_open()) return std::string("userfaultfd is refused: ") + std::strerror(errno);
    if (kernel::shake_hands(opened, k_events | UFFD_FEATURE_PAGEFAULT_FLAG_WP) == 0)
        return std::string("userfaultfd tells no changes of mappings: ") + std::strerror(errno);
    events_ = kernel::out_of_the_way(opened.release());
    if (!events_.is_open()) return std::string("no descriptor for userfaultfd: ") + std::strerror(errno);
    listener_ = &listener;
    thread_.add(*this);
    return {};
}

void MappingWatch::close() noexcept {
    if (!events_.is_open()) return;
    // A child of fork() may hold a copy of the descriptor: without this, changes would wait for a reader for ever.
    {
        Lock const lock(held_);
        for (std::size_t i = 0; i < used_; ++i) {
            uffdio_range range{ranges_[i].begin, ranges_[i].bytes};
            ioctl(events_.get(), UFFDIO_UNREGISTER, &range);
        }
        used_ = 0;
    }
    thread_.remove(*this);
    events_.reset();
}

void MappingWatch::abandon() noexcept {
    used_ = 0;
    events_.reset();
}

bool MappingWatch::watch(Range range) noexcept {
    Range const pages = whole_pages(range);
    Lock const lock(held_);
    if (holds(pages)) return true;
    uffdio_register wanted{};
    wanted.range = {pages.begin, pages.bytes};
    wanted.mode = UFFDIO_REGISTER_MODE_WP;  // of the modes the one in which a page that is missing needs nothing
    if (!events_.is_open() || used_ == k_most || ioctl(events_.get(), UFFDIO_REGISTER, &wanted) != 0) return false;
    return enter(pages);
}

bool MappingWatch::watches(Range range) const noexcept {
    Lock const lock(held_);
    return holds(whole_pages(range));
}

void MappingWatch::release(Range range) noexcept {
    Range const pages = whole_pages(range);
    for (Range released = release_one(pages); released.bytes > 0; released = release_one(pages))
        listener_->changed(released);
}

/// Returns the range that it was, of 0 bytes if none is left.
MappingWatch::Range MappingWatch::release_one(Range pages) noexcept {
    Lock const lock(held_);
    std::size_t const at = first_behind(pages.begin);
    if (at == used_ || ranges_[at].begin >= pages.end()) return {};
    Range const released = ranges_[at];
    uffdio_range wanted{released.begin, released.bytes};
    ioctl(events_.get(), UFFDIO_UNREGISTER, &wanted);
    leave(released);
    return released;
}

/// The first range that ends behind the address.
std::size_t MappingWatch::first_behind(std::uintptr_t address) const noexcept {
    auto const end = ranges_.begin() + static_cast<std::ptrdiff_t>(used_);
    return static_cast<std::size_t>(
        std::upper_bound(ranges_.begin(), end, address,
                         [](std::uintptr_t at, Range const& range) { return at < range.end(); }) -
        ranges_.begin());
}

bool MappingWatch::holds(Range pages) const noexcept {
    std::size_t const at = first_behind(pages.begin);
    return at < used_ && ranges_[at].contains(pages);
}

/// Grows by the ranges that it overlaps: they become one.
bool MappingWatch::enter(Range pages) noexcept {
    std::size_t const at = first_behind(pages.begin);
    std::size_t behind = at;
    for (; behind < used_ && ranges_[behind].begin < pages.end(); ++behind) {
        std::uintptr_t const begin = std::min(pages.begin, ranges_[behind].begin);
        pages = {begin, std::max(pages.end(), ranges_[behind].end()) - begin};
    }
    auto const place = [&](std::size_t i) { return ranges_.begin() + static_cast<std::ptrdiff_t>(i); };
    if (behind == at) {
        std::copy_backward(place(at), place(used_), place(used_ + 1));
        ++used_;
    } else {
        std::copy(place(behind), place(used_), place(at + 1));
        used_ -= behind - at - 1;
    }
    ranges_[at] = pages;
    return true;
}

/// What is left of a range is forgotten, too: it is watched again with its next use.
void MappingWatch::leave(Range pages) noexcept {
    std::size_t const at = first_behind(pages.begin);
    std::size_t behind = at;
    while (behind < used_ && ranges_[behind].begin < pages.end())
        ++behind;
    auto const place = [&](std::size_t i) { return ranges_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::copy(place(behind), place(used_), place(at));
    used_ -= behind - at;
}

kernel::HelperThread::Clock::duration MappingWatch::run() noexcept {
    for (;;) {
        pollfd about{events_.get(), POLLIN, 0};
        if (poll(&about, 1, 0) != 1 || (about.revents & POLLIN) == 0) break;
        handling_.store(true, std::memory_order_release);
        bool const taken = take_event();
        handling_.store(false, std::memory_order_release);
        if (!taken) break;
    }
    return kernel::HelperThread::k_until_woken;
}

bool MappingWatch::take_event() noexcept {
    uffd_msg event{};
    if (read(events_.get(), &event, sizeof event) != static_cast<ssize_t>(sizeof event)) return false;
    switch (event.event) {
        case UFFD_EVENT_UNMAP:
        case UFFD_EVENT_REMOVE:
            change({event.arg.remove.start, event.arg.remove.end - event.arg.remove.start});
            break;
        case UFFD_EVENT_REMAP:
            change({event.arg.remap.from, event.arg.remap.len});
            break;
        default:
            break;
    }
    return true;
}

/// Pages that are emptied (madvise) are so only after the event has been read. So the range is not watched from here
/// on, and not registered, until the program uses it again.
void MappingWatch::change(Range range) noexcept {
    {
        Lock const lock(held_);
        leave(range);
    }
    listener_->changed(range);
}

}  // namespace sluice::plugin
