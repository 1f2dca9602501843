// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/open/lent_buffers.hpp"

#include <algorithm>

#include "plugin/binding/tally.hpp"
#include "plugin/tables/memory_watch.hpp"

namespace sluice::plugin {

std::uint32_t LentBuffers::lend(std::uint64_t owner, void const* from, std::uint64_t span,
                                std::uint64_t missing) noexcept {
    std::lock_guard const lock(changing_);
    return place_for({owner, from, span, missing});
}

std::uint32_t LentBuffers::place_for(Entry const& what) noexcept {
    for (std::uint32_t place = 0; place < k_room; ++place) {
        Entry& entry = entries_[place];
        if (entry.owner != 0) continue;
        entry = what;
        put(used_, used_ + 1);
        return place;
    }
    return k_unknown;
}

void LentBuffers::lend_without_look(void const* from, std::uint64_t span, std::uint64_t missing) noexcept {
    std::lock_guard const lock(changing_);
    Entry const entry{k_without_look, from, span, missing};
    std::uint32_t& place = unlooked_[next_unlooked_];
    if (place != k_unknown && entries_[place].owner == k_without_look) free(entries_[place]);
    place = place_for(entry);
    next_unlooked_ = (next_unlooked_ + 1) % k_unlooked;
}

bool LentBuffers::has_without_look(void const* from, std::uint64_t span) const noexcept {
    if (look_at(used_) == 0) return false;
    std::lock_guard const lock(changing_);
    return std::any_of(unlooked_.begin(), unlooked_.end(), [&](std::uint32_t place) {
        if (place == k_unknown) return false;
        Entry const& entry = entries_[place];
        return entry.owner == k_without_look && entry.from == from && entry.span >= span;
    });
}

void LentBuffers::still_misses(std::uint32_t place, std::uint64_t bytes) noexcept {
    if (place == k_unknown) return;
    std::lock_guard const lock(changing_);
    entries_[place].missing = bytes;
}

void LentBuffers::free(Entry& entry) noexcept {
    entry = {};
    put(used_, used_ - 1);
}

void LentBuffers::give_back(std::uint32_t place) noexcept {
    if (place == k_unknown) return;
    std::lock_guard const lock(changing_);
    if (entries_[place].owner != 0) free(entries_[place]);
}

void LentBuffers::give_back_all(std::uint64_t owner) noexcept {
    if (look_at(used_) == 0) return;
    std::lock_guard const lock(changing_);
    for (Entry& entry : entries_)
        if (entry.owner == owner) free(entry);
}

void LentBuffers::give_back(std::uint64_t owner, void const* from) noexcept {
    if (look_at(used_) == 0) return;
    std::lock_guard const lock(changing_);
    for (Entry& entry : entries_)
        if (entry.owner == owner && entry.from == from) free(entry);
}

std::uint64_t LentBuffers::find() noexcept {
    if (look_at(used_) == 0) return 0;
    std::lock_guard const lock(changing_);
    std::uint64_t found = 0;
    for (Entry& entry : entries_)
        if (entry.owner > k_request) found += find_in(entry);
    return found;
}

std::uint64_t LentBuffers::find(std::uint64_t owner) noexcept {
    if (look_at(used_) == 0 || owner <= k_request) return 0;
    std::lock_guard const lock(changing_);
    std::uint64_t found = 0;
    for (Entry& entry : entries_)
        if (entry.owner == owner) found += find_in(entry);
    return found;
}

std::uint64_t LentBuffers::find_in(Entry& entry) noexcept {
    std::uint64_t const still = std::min(MemoryWatch::absent(entry.from, entry.span), entry.missing);
    std::uint64_t const found = entry.missing - still;
    entry.missing = still;
    if (still == 0) free(entry);
    return found;
}

/// The lock is not held while the kernel is asked: the program must not wait for that. An entry that has changed
/// meanwhile says nothing.
std::uint64_t LentBuffers::come() const noexcept {
    if (look_at(used_) == 0) return 0;
    std::uint64_t come = 0;
    for (std::size_t place = 0; place < k_room; ++place) {
        auto const entry = [&] {
            std::lock_guard const lock(changing_);
            return entries_[place];
        };
        Entry const before = entry();
        if (before.owner == 0) continue;
        std::uint64_t const still = MemoryWatch::absent(before.from, before.span);
        if (entry() == before) come += before.missing - std::min(still, before.missing);
    }
    return come;
}

}  // namespace sluice::plugin
