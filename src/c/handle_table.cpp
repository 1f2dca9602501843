// SPDX-License-Identifier: BSD-3-Clause
#include "c/handle_table.hpp"

#include <bit>
#include <new>
#include <string>

#include "sluice/error.hpp"

namespace sluice::c {

namespace {

constexpr std::uint64_t k_kind_shift = 58;
constexpr std::uint64_t k_generation_shift = 29;
constexpr std::uint64_t k_generation_mask = (std::uint64_t{1} << 29) - 1;
constexpr std::uint64_t k_place_mask = (std::uint64_t{1} << 28) - 1;

std::uint64_t kind_in(std::uint64_t handle) {
    return handle >> k_kind_shift;
}
std::uint64_t place_in(std::uint64_t handle) {
    return handle >> 1 & k_place_mask;
}

std::uint64_t number_of(void const* handle) {
    static_assert(sizeof handle == sizeof(std::uint64_t));
    return std::bit_cast<std::uint64_t>(handle);
}

char const* name_of(std::uint64_t kind) {
    static constexpr std::array k_names{"nothing",        "a context",        "options",        "a report",
                                        "a plan",         "a store",          "a fetch result", "a data sink",
                                        "a paged file",   "paged blocks",     "a budget",       "a lease",
                                        "a MADRE object", "a transpose plan", "a rank plan",    "an all-to-all plan",
                                        "an array",       "an exchange plan", "a packed plan"};
    static_assert(k_names.size() == static_cast<std::size_t>(HandleKind::last) + 1);
    return kind < k_names.size() ? k_names[kind] : "nothing";
}

constinit HandleTable g_handles;

}  // namespace

HandleTable& HandleTable::of_this_process() noexcept {
    return g_handles;
}

HandleTable::Slot* HandleTable::slot_at(Place place) const noexcept {
    std::size_t const from_first = place + k_first_chunk;
    auto const chunk = static_cast<std::size_t>(std::bit_width(from_first) - std::bit_width(k_first_chunk));
    std::size_t const before = (k_first_chunk << chunk) - k_first_chunk;
    return chunks_[chunk].load(std::memory_order_acquire) + (place - before);
}

HandleTable::Place HandleTable::reserve() {
    std::scoped_lock const lock(mutex_);
    if (first_free_ != k_no_place) {
        Place const place = first_free_;
        first_free_ = slot_at(place)->next_free;
        return place;
    }
    Place const place = made_.load(std::memory_order_relaxed);
    std::size_t const from_first = place + k_first_chunk;
    auto const chunk = static_cast<std::size_t>(std::bit_width(from_first) - std::bit_width(k_first_chunk));
    if (chunk >= k_chunks) throw std::bad_alloc();
    if (std::has_single_bit(from_first)) chunks_[chunk].store(new Slot[from_first], std::memory_order_release);
    made_.store(place + 1, std::memory_order_release);
    return place;
}

void HandleTable::give_back(Place place) noexcept {
    std::scoped_lock const lock(mutex_);
    slot_at(place)->next_free = first_free_;
    first_free_ = place;
}

void* HandleTable::bind(Place place, HandleKind kind, void* object) noexcept {
    Slot& slot = *slot_at(place);
    std::uint64_t const handle = static_cast<std::uint64_t>(kind) << k_kind_shift |
                                 (slot.generation & k_generation_mask) << k_generation_shift |
                                 static_cast<std::uint64_t>(place) << 1 | 1;
    slot.object.store(object, std::memory_order_relaxed);
    slot.handle.store(handle, std::memory_order_release);
    return std::bit_cast<void*>(handle);
}

HandleTable::Slot& HandleTable::checked(void const* handle, HandleKind kind, char const* what) const {
    auto const refuse = [what](std::string const& why) {
        throw Error(ErrorCode::invalid_argument, std::string(what) + why);
    };
    if (handle == nullptr) refuse(" is NULL");
    std::uint64_t const number = number_of(handle);
    std::uint64_t const found = kind_in(number);
    bool const is_ours = (number & 1) != 0 && found >= static_cast<std::uint64_t>(HandleKind::context) &&
                         found <= static_cast<std::uint64_t>(HandleKind::last) &&
                         place_in(number) < made_.load(std::memory_order_acquire);
    if (!is_ours) refuse(" is no handle of Sluice: a variable that was not set by a function that makes one?");
    if (found != static_cast<std::uint64_t>(kind)) refuse(std::string(" is the handle of ") + name_of(found));
    Slot& slot = *slot_at(static_cast<Place>(place_in(number)));
    if (slot.handle.load(std::memory_order_acquire) != number)
        refuse(std::string(" is the handle of ") + name_of(found) +
               " that was freed before: the program has kept a copy of the handle");
    return slot;
}

void* HandleTable::object_of(void const* handle, HandleKind kind, char const* what) const {
    return checked(handle, kind, what).object.load(std::memory_order_relaxed);
}

void* HandleTable::take(void const* handle, HandleKind kind, char const* what) {
    std::scoped_lock const lock(mutex_);  // of two threads that free a handle one gets the error
    Slot& slot = checked(handle, kind, what);
    void* const object = slot.object.load(std::memory_order_relaxed);
    slot.handle.store(0, std::memory_order_relaxed);
    ++slot.generation;
    slot.next_free = first_free_;
    first_free_ = static_cast<Place>(place_in(number_of(handle)));
    return object;
}

}  // namespace sluice::c
