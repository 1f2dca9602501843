// SPDX-License-Identifier: BSD-3-Clause
#include "memory/registration/cache.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

namespace sluice::memory::registration {

namespace {

constexpr int k_spins = 64;

void count(std::atomic<std::uint64_t>& counter) noexcept {
    counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

// The holder of the lock does a few dozen instructions; if it has lost its processor meanwhile, spinning would keep it
// from getting one.
void Cache::Lock::lock() noexcept {
    for (int spins = 0; held_.test_and_set(std::memory_order_acquire); ++spins)
        if (spins >= k_spins) sched_yield();
}

Cache::Cache(Registrar& registrar, Budget const& pinned, Budget const& tables, Policy policy)
    : registrar_(&registrar),
      budget_(pinned),
      policy_(policy),
      regions_(k_most_regions, LeasedAllocator<Region>(tables)),
      index_(k_most_regions, LeasedAllocator<std::uint32_t>(tables)),
      free_(LeasedAllocator<std::uint32_t>(tables)) {
    free_.reserve(k_most_regions);
    for (std::uint32_t slot = k_most_regions; slot > 0; --slot)
        free_.push_back(slot - 1);
}

Cache::~Cache() {
    for (std::uint32_t slot = 0; slot < k_most_regions; ++slot)
        if (regions_[slot].state != State::free) remove_slot(slot);
}

Use Cache::begin_use(Range range) noexcept {
    Range const pages = whole_pages(range);
    {
        std::lock_guard const lock(lock_);
        if (std::uint32_t const slot = find(pages); slot != k_none) {
            ++regions_[slot].uses;
            regions_[slot].is_ahead = false;
            count(counters_.found);
            return {Use::Outcome::found, Failure::none, slot, regions_[slot].key, {}};
        }
    }
    Use use;
    use.failure = Failure::limit;

    for (Done inside = give_back_inside(pages); inside.done; inside = give_back_inside(pages)) {
        use.cost += inside.cost;
        count(counters_.removed_by_main);
    }
    use.slot = room_for(pages, Time::min(), true, use.cost);
    if (use.slot != k_none) {
        Registered const made = register_slot(use.slot, 1);
        use.cost += made.cost;
        use.failure = made.failure;
        use.key = made.key;
    }
    if (use.failure == Failure::none) use.outcome = Use::Outcome::registered;
    count(use.failure == Failure::none ? counters_.registered_by_main : counters_.refused);
    return use;
}

bool Cache::end_use(Use const& use) noexcept {
    if (use.outcome == Use::Outcome::refused) return false;
    std::lock_guard const lock(lock_);
    return --regions_[use.slot].uses == 0;
}

void Cache::forget(Range range) noexcept {
    Range const pages = whole_pages(range);
    std::lock_guard const lock(lock_);
    for (std::uint32_t slot = 0; slot < k_most_regions; ++slot) {
        Region& region = regions_[slot];
        bool const counts = region.state == State::ready || region.state == State::registering;
        if (!counts || !region.range.overlaps(pages)) continue;
        if (region.state == State::ready) hide(slot);
        region.state = State::forgotten;
        strays_.fetch_add(1, std::memory_order_relaxed);
        count(counters_.forgotten);
    }
}

Cache::Done Cache::warm(Range range, Time needed) noexcept {
    Range const pages = whole_pages(range);
    if (region_of(pages)) return {};
    Done done;
    std::uint32_t const slot = room_for(pages, needed, false, done.cost);
    if (slot == k_none) {
        done.failure = Failure::limit;
        return done;
    }
    Registered const made = register_slot(slot, 0);
    done.done = made.failure == Failure::none;
    done.failure = made.failure;
    done.cost += made.cost;
    if (done.done) count(counters_.registered_ahead);
    return done;
}

Cache::Done Cache::give_back(Range range) noexcept {
    std::uint32_t slot = k_none;
    {
        std::lock_guard const lock(lock_);
        slot = find(whole_pages(range));
        if (slot == k_none || regions_[slot].uses > 0) return {};
        leave(slot);
    }
    return remove_one(slot);
}

Cache::Done Cache::give_back_inside(Range range) noexcept {
    if (policy_ == Policy::keep) return {};
    Range const pages = whole_pages(range);
    std::uint32_t inside = k_none;
    {
        std::lock_guard const lock(lock_);
        for (std::uint32_t i = 0; i < found_by_ && inside == k_none; ++i) {
            Region const& region = regions_[index_[i]];
            if (region.uses == 0 && pages.contains(region.range) && !(region.range == pages)) inside = index_[i];
        }
        if (inside == k_none) return {};
        leave(inside);
    }
    return remove_one(inside);
}

bool Cache::is_used_inside(Range range) const noexcept {
    Range const pages = whole_pages(range);
    std::lock_guard const lock(lock_);
    for (std::uint32_t i = 0; i < found_by_; ++i) {
        Region const& region = regions_[index_[i]];
        if (region.uses > 0 && pages.contains(region.range)) return true;
    }
    return false;
}

void Cache::give_back_unused() noexcept {
    while (give_back_stray().done) {
    }
    for (std::uint32_t place = 0; std::optional<Range> const unused = next_unused(place);)
        give_back(*unused);
}

Cache::Done Cache::give_back_stray() noexcept {
    std::uint32_t stray = k_none;
    {
        std::lock_guard const lock(lock_);
        for (std::uint32_t slot = 0; slot < k_most_regions && stray == k_none; ++slot) {
            Region const& region = regions_[slot];
            bool const is_unknown = region.state == State::ready && region.next_use == k_never;
            // A region that is being registered is found out by the thread that registers it.
            bool const is_forgotten = region.state == State::forgotten && region.is_registered;
            if (region.uses == 0 && (is_unknown || is_forgotten)) stray = slot;
        }
        if (stray == k_none) return {};
        leave(stray);
    }
    return remove_one(stray);
}

Cache::Done Cache::remove_one(std::uint32_t slot) noexcept {
    count(counters_.given_back);
    return {true, Failure::none, remove_slot(slot)};
}

void Cache::set_next_use(Range range, Time next) noexcept {
    std::lock_guard const lock(lock_);
    if (std::uint32_t const slot = find(whole_pages(range)); slot != k_none) regions_[slot].next_use = next;
}

std::optional<Cache::Found> Cache::region_of(Range range) const noexcept {
    std::lock_guard const lock(lock_);
    std::uint32_t const slot = find(whole_pages(range));
    if (slot == k_none) return std::nullopt;
    return Found{regions_[slot].range, regions_[slot].uses};
}

std::optional<Range> Cache::next_unused(std::uint32_t& place) const noexcept {
    std::lock_guard const lock(lock_);
    while (place < k_most_regions) {
        Region const& region = regions_[place++];
        if (region.state == State::ready && region.uses == 0) return region.range;
    }
    return std::nullopt;
}

std::uint32_t Cache::find(Range range) const noexcept {
    auto const end = index_.begin() + found_by_;
    auto at = std::upper_bound(index_.begin(), end, range.begin, [&](std::uintptr_t begin, std::uint32_t slot) {
        return begin < regions_[slot].range.begin;
    });
    while (at != index_.begin()) {
        Region const& region = regions_[*--at];
        if (region.range.contains(range)) return *at;
        if (region.range.begin + longest_ < range.end()) break;  // those further in front end before, too
    }
    return k_none;
}

std::uint32_t Cache::take_slot(Range range, Lease&& lease) noexcept {
    if (free_.empty()) return k_none;
    std::uint32_t const slot = free_.back();
    free_.pop_back();
    Region& region = regions_[slot];
    region.range = range;
    region.next_use = k_never;
    region.uses = 0;
    region.is_registered = false;
    region.state = State::registering;
    region.lease = std::move(lease);
    return slot;
}

void Cache::publish(std::uint32_t slot) noexcept {
    Region& region = regions_[slot];
    region.state = State::ready;
    auto const end = index_.begin() + found_by_;
    auto const at =
        std::upper_bound(index_.begin(), end, region.range.begin,
                         [&](std::uintptr_t begin, std::uint32_t in) { return begin < regions_[in].range.begin; });
    std::move_backward(at, end, end + 1);
    *at = slot;
    ++found_by_;
    longest_ = std::max(longest_, region.range.bytes);
}

void Cache::hide(std::uint32_t slot) noexcept {
    auto const end = index_.begin() + found_by_;
    std::move(std::find(index_.begin(), end, slot) + 1, end, std::find(index_.begin(), end, slot));
    if (--found_by_ == 0) longest_ = 0;
}

/// Takes a region out of the index for good: the caller removes it.
std::uint32_t Cache::leave(std::uint32_t slot) noexcept {
    if (regions_[slot].state == State::ready) hide(slot);
    if (regions_[slot].state == State::forgotten) strays_.fetch_sub(1, std::memory_order_relaxed);
    regions_[slot].state = State::leaving;
    return slot;
}

/// Takes out the unused region whose next use is last, if that is after `after`; forgotten ones first.
std::uint32_t Cache::last_due(Time after, bool only_ahead) noexcept {
    std::uint32_t last = k_none;
    for (std::uint32_t slot = 0; slot < k_most_regions; ++slot) {
        Region const& region = regions_[slot];
        if (region.uses > 0) continue;
        if (region.state == State::forgotten && region.is_registered) return leave(slot);
        if (region.state != State::ready || region.next_use <= after) continue;
        if (only_ahead && !region.is_ahead) continue;
        if (last == k_none || region.next_use > regions_[last].next_use) last = slot;
    }
    return last == k_none ? k_none : leave(last);
}

std::uint32_t Cache::room_for(Range range, Time after, bool must, Time& cost) noexcept {
    if (range.bytes > budget_.limit().count) return k_none;  // a message larger than the limit uses its own path
    if (must) keep_peak(range, cost);
    for (;;) {
        std::uint32_t victim = k_none;
        std::optional<Lease> lease = budget_.try_lease({range.bytes}, Purpose::registered);
        {
            std::lock_guard const lock(lock_);
            if (lease)
                if (std::uint32_t const slot = take_slot(range, std::move(*lease)); slot != k_none) return slot;
            victim = last_due(after, false);
        }
        if (victim == k_none) break;
        cost += remove_slot(victim);
        count(must ? counters_.removed_by_main : counters_.given_back);
    }
    if (!must) return k_none;
    Lease lease = budget_.lease_beyond({range.bytes}, Purpose::registered);
    count(counters_.beyond_limit);
    std::lock_guard const lock(lock_);
    return take_slot(range, std::move(lease));
}

/// What was registered ahead gives way to what is used now, before the peak is raised.
void Cache::keep_peak(Range range, Time& cost) noexcept {
    while (policy_ == Policy::spare && pinned().count + range.bytes > peak().count) {
        std::uint32_t victim = k_none;
        {
            std::lock_guard const lock(lock_);
            victim = last_due(Time::min(), true);
        }
        if (victim == k_none) return;
        cost += remove_slot(victim);
        count(counters_.removed_by_main);
    }
}

Registered Cache::register_slot(std::uint32_t slot, std::uint32_t uses) noexcept {
    Registered made = registrar_->add(regions_[slot].range);
    if (made.failure != Failure::none) {
        std::lock_guard const lock(lock_);
        if (regions_[slot].state == State::forgotten) strays_.fetch_sub(1, std::memory_order_relaxed);
        regions_[slot].state = State::leaving;
    } else {
        count_pinned(regions_[slot].range.bytes);
        std::lock_guard const lock(lock_);
        Region& region = regions_[slot];
        region.key = made.key;
        region.uses = uses;
        region.is_ahead = uses == 0;
        region.is_registered = true;
        if (region.state == State::registering) publish(slot);
        return made;  // a range that was forgotten meanwhile serves this use alone
    }
    free_slot(slot);
    return made;
}

Time Cache::remove_slot(std::uint32_t slot) noexcept {
    Time const cost = registrar_->remove(regions_[slot].key, regions_[slot].range);
    pinned_.fetch_sub(regions_[slot].range.bytes, std::memory_order_relaxed);
    free_slot(slot);
    return cost;
}

void Cache::free_slot(std::uint32_t slot) noexcept {
    Lease ended;  // gives its bytes back without the lock
    std::lock_guard const lock(lock_);
    ended = std::move(regions_[slot].lease);
    regions_[slot].state = State::free;
    free_.push_back(slot);
}

void Cache::count_pinned(std::uint64_t bytes) noexcept {
    std::uint64_t const now = pinned_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::uint64_t peak = peak_.load(std::memory_order_relaxed);
    while (peak < now && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
}

}  // namespace sluice::memory::registration
