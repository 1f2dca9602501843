// SPDX-License-Identifier: BSD-3-Clause
#include "memory/registration/registrars/locked_pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "memory/registration/registrars/stopwatch.hpp"

namespace sluice::memory::registration {

namespace {

void* pointer(std::uintptr_t address) noexcept {
    return reinterpret_cast<void*>(address);
}

/// mlock says ENOMEM of a limit and of pages that are not mapped alike; a synchronisation of the range tells them
/// apart.
Failure why_refused(Range pages) noexcept {
    return msync(pointer(pages.begin), pages.bytes, MS_ASYNC) != 0 ? Failure::not_mapped : Failure::limit;
}

}  // namespace

Registered LockedPages::add(Range range) noexcept {
    Range const pages = whole_pages(range);
    Stopwatch const watch;
    std::lock_guard const lock(mutex_);
    try {
        live_.push_back({++last_key_, pages});
    } catch (std::bad_alloc const&) {
        return {0, Failure::limit, watch.elapsed()};
    }
    if (mlock(pointer(pages.begin), pages.bytes) == 0) return {last_key_, Failure::none, watch.elapsed()};
    // The pages before the one that failed are locked.
    live_.pop_back();
    Failure const why = why_refused(pages);
    unlock_what_no_other_has(pages);
    return {0, why, watch.elapsed()};
}

Time LockedPages::remove(std::uint64_t key, Range range) noexcept {
    Stopwatch const watch;
    std::lock_guard const lock(mutex_);
    auto const at = std::find_if(live_.begin(), live_.end(), [&](Live const& live) { return live.key == key; });
    if (at != live_.end()) live_.erase(at);
    unlock_what_no_other_has(whole_pages(range));
    return watch.elapsed();
}

void LockedPages::unlock_what_no_other_has(Range pages) noexcept {
    std::uintptr_t at = pages.begin;
    while (at < pages.end()) {
        std::uintptr_t free_until = pages.end();
        std::uintptr_t next = at;
        for (Live const& live : live_) {
            if (live.pages.begin <= at && at < live.pages.end()) next = std::max(next, live.pages.end());
            if (live.pages.begin > at) free_until = std::min(free_until, live.pages.begin);
        }
        if (next == at) {
            munlock(pointer(at), free_until - at);
            next = free_until;
        }
        at = next;
    }
}

}  // namespace sluice::memory::registration
