// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/open/objects.hpp"

#include <new>
#include <utility>

#include "base/fixed_table.hpp"
#include "plugin/binding/tally.hpp"

namespace sluice::plugin {

std::size_t Objects::home_of(std::uint64_t key) const noexcept {
    return base::slot_of_key(key, bits_);
}

std::size_t Objects::place_of(std::uint64_t key) const noexcept {
    std::size_t at = home_of(key);
    while (slots_[at].key != 0 && slots_[at].key != key)
        at = (at + 1) % slots_.size();
    return at;
}

void Objects::grow() {
    memory::LeasedVector<Slot> larger(slots_.get_allocator());
    larger.resize(bits_ == 0 ? std::size_t{1} << k_first_bits : 2 * slots_.size());
    std::swap(slots_, larger);
    bits_ = bits_ == 0 ? k_first_bits : bits_ + 1;
    for (Slot const& slot : larger)
        if (slot.key != 0) slots_[place_of(slot.key)] = slot;
}

/// An object whose handle has others already.
void Objects::push(Slot& slot, std::uint32_t site) {
    std::uint32_t place = free_below_;
    if (place == k_nothing) {
        place = static_cast<std::uint32_t>(below_.size());
        below_.emplace_back();
    } else {
        free_below_ = below_[place].below;
    }
    below_[place] = {slot.site, slot.below};
    slot.site = site;
    slot.below = place;
}

bool Objects::add(record::Object kind, std::uint64_t handle, std::uint32_t site) noexcept {
    CallersLock const lock(changing_);
    std::uint64_t const key = key_of(kind, handle);
    try {
        if (4 * (used_ + 1) > 3 * slots_.size()) grow();
        Slot& slot = slots_[place_of(key)];
        if (slot.key == key) {
            push(slot, site);
        } else {
            slot = {key, site, k_nothing};
            ++used_;
        }
    } catch (std::bad_alloc const&) {
        return false;
    }
    ++kept_;
    return true;
}

/// Slots that follow move up where their search would else end too early.
void Objects::clear(std::size_t at) noexcept {
    std::size_t const mask = slots_.size() - 1;
    for (std::size_t next = (at + 1) & mask; slots_[next].key != 0; next = (next + 1) & mask) {
        std::size_t const from_home = (next - home_of(slots_[next].key)) & mask;
        if (from_home < ((next - at) & mask)) continue;
        slots_[at] = slots_[next];
        at = next;
    }
    slots_[at] = {};
    --used_;
}

std::optional<std::uint32_t> Objects::remove(record::Object kind, std::uint64_t handle) noexcept {
    CallersLock const lock(changing_);
    if (kept_ == 0) return std::nullopt;
    std::uint64_t const key = key_of(kind, handle);
    std::size_t const at = place_of(key);
    Slot& slot = slots_[at];
    if (slot.key != key) return std::nullopt;
    std::uint32_t const site = slot.site;
    --kept_;
    if (slot.below == k_nothing) {
        clear(at);
        return site;
    }
    std::uint32_t const place = slot.below;
    slot.site = below_[place].site;
    slot.below = below_[place].below;
    below_[place].below = free_below_;
    free_below_ = place;
    return site;
}

bool Objects::knows(record::Object kind, std::uint64_t handle) noexcept {
    CallersLock const lock(changing_);
    std::uint64_t const key = key_of(kind, handle);
    return kept_ > 0 && slots_[place_of(key)].key == key;
}

}  // namespace sluice::plugin
