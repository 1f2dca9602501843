// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/open/lent_buffers.hpp"

#include <algorithm>
#include <optional>

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
    auto const begin = static_cast<std::byte const*>(from);
    // Of pages in two entries each would be found twice.
    for (Entry& other : entries_) {
        auto const others = static_cast<std::byte const*>(other.from);
        if (other.owner == k_without_look && others < begin + span && begin < others + other.span) free(other);
    }
    std::uint32_t& place = unlooked_[next_unlooked_];
    if (place != k_unknown && entries_[place].owner == k_without_look) free(entries_[place]);
    place = place_for(entry);
    next_unlooked_ = (next_unlooked_ + 1) % k_unlooked;
}

bool LentBuffers::has_without_look(void const* from, std::uint64_t span) const noexcept {
    if (look_at(used_) == 0) return false;
    std::lock_guard const lock(changing_);
    auto const begin = static_cast<std::byte const*>(from);
    return std::any_of(unlooked_.begin(), unlooked_.end(), [&](std::uint32_t place) {
        if (place == k_unknown || entries_[place].owner != k_without_look) return false;
        auto const known = static_cast<std::byte const*>(entries_[place].from);
        return known <= begin && begin + span <= known + entries_[place].span;
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

std::uint64_t LentBuffers::find(std::uint64_t owner, void const* from, LookShare& share) noexcept {
    if (look_at(used_) == 0 || owner <= k_request) return 0;
    std::lock_guard const lock(changing_);
    std::uint64_t found = 0;
    for (Entry& entry : entries_) {
        if (entry.owner != owner || (from != nullptr && entry.from != from)) continue;
        if (!share.allows_look_at(entry.span)) continue;
        std::optional<LookShare::Look> look;
        if (entry.span > LookShare::k_always) look.emplace(share);
        found += find_in(entry);
    }
    return found;
}

std::uint64_t LentBuffers::find_in(Entry& entry) noexcept {
    auto const absent = MemoryWatch::absent_where_mapped(entry.from, entry.span);
    if (!absent) {
        free(entry);
        return 0;
    }
    std::uint64_t const still = std::min(*absent, entry.missing);
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
        auto const still = MemoryWatch::absent_where_mapped(before.from, before.span);
        if (still && entry() == before) come += before.missing - std::min(*still, before.missing);
    }
    return come;
}

}  // namespace sluice::plugin
