// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/watch/requests.hpp"

#include <algorithm>
#include <new>

#include "base/fixed_table.hpp"
#include "plugin/tables/request_key.hpp"
#include "plugin/watch/watch.hpp"

namespace sluice::plugin {

namespace {

constexpr std::uint64_t k_free = 0;
constexpr std::uint64_t k_was_freed = 1;
constexpr std::size_t k_one_less = ~std::size_t{0};

}  // namespace

OpenRequest* Requests::find(MPI_Request request) noexcept {
    if (!slots_) return nullptr;
    std::uint64_t const key = key_of(request);
    for (std::size_t at = base::slot_of_key(key, k_slot_bits), probes = 0; probes < k_slots;
         at = (at + 1) % k_slots, ++probes) {
        OpenRequest& slot = (*slots_)[at];
        if (slot.key == key) return &slot;
        if (slot.key == k_free) return nullptr;
    }
    return nullptr;
}

/// A run of slots that are not free always ends with one in use: where the last of it goes, the marks before it that
/// somebody was there go with it.
void Requests::remove(OpenRequest& slot) noexcept {
    if (slot.absent > 0) plugin::add(incomplete_, k_one_less);
    plugin::add(kept_, k_one_less);
    slot.absent = 0;
    slot.active = false;
    slot.key = k_was_freed;
    std::size_t at = static_cast<std::size_t>(&slot - slots_->data());
    if ((*slots_)[(at + 1) % k_slots].key != k_free) return;
    for (; (*slots_)[at].key == k_was_freed; at = (at + k_slots - 1) % k_slots)
        (*slots_)[at].key = k_free;
}

void Requests::find_own_pages(OpenRequest& slot) noexcept {
    if (slot.absent == 0) return;
    std::uint64_t const still = MemoryWatch::absent(slot.buffer, slot.span);
    if (still < slot.absent) watch_.own_pages(slot.absent - still);
    slot.absent = std::min(still, slot.absent);
    if (slot.absent == 0) plugin::add(incomplete_, k_one_less);
}

void Requests::find_own_pages() noexcept {
    if (look_at(incomplete_) == 0) return;
    CallersLock const lock(changing_);
    for (std::size_t at = 0, left = incomplete_; left > 0 && at < k_slots; ++at) {
        OpenRequest& slot = (*slots_)[at];
        if (slot.absent == 0) continue;
        --left;
        find_own_pages(slot);
    }
}

void Requests::add(MPI_Request request, OpenRequest const& what) noexcept {
    if (request == MPI_REQUEST_NULL) return;
    CallersLock const lock(changing_);
    // A handle that comes again was completed without our seeing it, or is about to be told of by another thread.
    if (OpenRequest* const old = find(request); old != nullptr) {
        old->persistent = false;
        end(*old);
    }
    if (!slots_) slots_.reset(new (std::nothrow) std::array<OpenRequest, k_slots>());
    if (!slots_ || kept_ >= k_most) return;
    std::uint64_t const key = key_of(request);
    std::size_t at = base::slot_of_key(key, k_slot_bits);
    while ((*slots_)[at].key > k_was_freed)
        at = (at + 1) % k_slots;
    OpenRequest& slot = (*slots_)[at];
    slot = what;
    slot.key = key;
    slot.active = !what.persistent;
    slot.serial = next_serial_;
    next_serial_ = std::max(next_serial_ + 1, k_first_serial);
    plugin::add(kept_, 1);
    if (slot.absent > 0) plugin::add(incomplete_, 1);
    if (slot.active) watch_.flies(slot.site, slot.bytes);
}

void Requests::begin(MPI_Request const* requests, int count) noexcept {
    if (empty()) return;
    CallersLock const lock(changing_);
    for (int i = 0; i < count; ++i) {
        OpenRequest* const slot = find(requests[i]);
        if (slot == nullptr || slot->active) continue;
        slot->active = true;
        watch_.flies(slot->site, slot->bytes);
    }
}

void Requests::end(OpenRequest& slot) noexcept {
    if (slot.active) watch_.landed(slot.site, slot.bytes);
    find_own_pages(slot);
    slot.active = false;
    if (!slot.persistent) remove(slot);
}

void Requests::identify(Handle* handles, int count) noexcept {
    if (!g_plugin.several_threads) return;
    CallersLock const lock(changing_);
    for (int i = 0; i < count; ++i) {
        OpenRequest const* const slot = find(handles[i].request);
        handles[i].serial = slot != nullptr ? slot->serial : k_unknown;
    }
}

void Requests::complete(Handle const& handle) noexcept {
    if (handle.serial == k_unknown) return;
    CallersLock const lock(changing_);
    OpenRequest* const slot = find(handle.request);
    if (slot != nullptr && (handle.serial == k_any || handle.serial == slot->serial)) end(*slot);
}

void Requests::forget(MPI_Request request) noexcept {
    if (empty()) return;
    CallersLock const lock(changing_);
    OpenRequest* const slot = find(request);
    if (slot == nullptr) return;
    if (slot->active) watch_.landed(slot->site, slot->bytes);
    remove(*slot);
}

Completing::Completing(Requests& open, MPI_Request const* requests, int count) noexcept : open_(open) {
    if (requests == nullptr || count <= 0 || open_.empty()) return;
    handles_ = few_.data();
    if (count > k_few) {
        try {
            many_.resize(static_cast<std::size_t>(count));
        } catch (std::bad_alloc const&) {
            return;
        }
        handles_ = many_.data();
    }
    for (int i = 0; i < count; ++i)
        handles_[i] = {requests[i], 0};
    count_ = count;
    open_.identify(handles_, count_);
}

void Completing::all(bool complete) noexcept {
    for (int i = 0; complete && i < count_; ++i)
        open_.complete(handles_[i]);
}

void Completing::at(int index) noexcept {
    if (index != MPI_UNDEFINED && index >= 0 && index < count_) open_.complete(handles_[index]);
}

void Completing::some(int number, int const* indices) noexcept {
    for (int i = 0; number != MPI_UNDEFINED && i < number; ++i)
        at(indices[i]);
}

}  // namespace sluice::plugin
