// SPDX-License-Identifier: BSD-3-Clause
/// Open requests of the program: which bytes they keep busy, since which call. A table of fixed size; requests that
/// find no room in it are not counted as in flight. Requests of services are in services/owned_requests.
///
///     slots   | a | b | was freed | c | free | …      a search ends at a free slot
///
/// MPI may give a handle again as soon as it has completed a request, so with several threads another's new request can
/// be added before the call that completed the old one comes to say so. Hence each has a serial number, which a
/// completing call asks for before it calls MPI.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>

#include "base/fixed_table.hpp"
#include "memory/leased.hpp"
#include "mpi/handle_key.hpp"
#include "plugin/binding/tally.hpp"

namespace sluice::plugin {

/// What is known of a request.
struct OpenRequest {
    std::uint64_t key = 0;  ///< the handle; 0: free, 1: was freed
    std::uint64_t bytes = 0;
    void const* buffer = nullptr;  ///< that it receives into, where pages of it were not resident at its start
    std::uint64_t span = 0;
    std::uint64_t absent = 0;  ///< bytes of it that were not
    std::uint32_t site = 0;
    std::uint32_t serial = 0;
    int awaited = -1;  ///< the world rank that its message comes from or goes to; -1: several, or unknown
    bool persistent = false;
    bool active = false;
};

/// A request that a call may complete.
struct Handle {
    MPI_Request request;
    std::uint32_t serial;
};

/// `Listener` is told what the table finds out: opened(site), closed(site), flies(site, bytes), landed(site, bytes) and
/// own_pages(bytes); it says by absent(buffer, span) how many bytes of a buffer are not resident.
template <class Listener>
class OpenRequests {
  public:
    static constexpr std::size_t k_slots = std::size_t{1} << 12;
    static constexpr std::size_t k_most = k_slots * 3 / 4;

    /// `budget`: the table is leased from the first request on.
    OpenRequests(Listener& listener, Budget const& budget) : listener_(listener), budget_(budget) {}
    Budget const& budget() const noexcept { return budget_; }

    /// `request` is not null.
    void add(MPI_Request request, OpenRequest const& what) noexcept {
        CallersLock const lock(changing_);
        // A handle that comes again was completed in a call that was not seen, or another thread is about to report it.
        if (OpenRequest* const old = find(request); old != nullptr) {
            old->persistent = false;
            end(*old);
        }
        if (!slots_) make_slots();
        if (!slots_ || kept_ >= k_most) {
            put(dropped_, true);
            return;
        }
        OpenRequest& slot = room_for(mpi::handle_key(request));
        slot = what;
        slot.key = mpi::handle_key(request);
        slot.active = !what.persistent;
        slot.serial = next_serial_;
        next_serial_ = std::max(next_serial_ + 1, k_first_serial);
        plugin::add(kept_, 1);
        listener_.opened(slot.site);
        if (slot.absent > 0) plugin::add(incomplete_, 1);
        if (slot.active) listener_.flies(slot.site, slot.bytes);
    }

    /// Makes the persistent ones active again.
    void begin(MPI_Request const* requests, int count) noexcept {
        if (empty()) return;
        CallersLock const lock(changing_);
        for (int i = 0; i < count; ++i) {
            OpenRequest* const slot = find(requests[i]);
            if (slot == nullptr || slot->active) continue;
            slot->active = true;
            listener_.flies(slot->site, slot->bytes);
        }
    }

    /// Writes down which requests the handles stand for now: with one calling thread for whatever they stand for later.
    void identify(Handle* handles, int count) noexcept {
        if (!g_plugin.several_threads) return;
        CallersLock const lock(changing_);
        for (int i = 0; i < count; ++i) {
            OpenRequest const* const slot = find(handles[i].request);
            handles[i].serial = slot != nullptr ? slot->serial : k_unknown;
        }
    }

    /// Ends one by the handle it had: its bytes, which are returned, are no longer in flight.
    std::uint64_t complete(Handle const& handle) noexcept {
        if (handle.serial == k_unknown) return 0;
        CallersLock const lock(changing_);
        OpenRequest* const slot = find(handle.request);
        if (slot == nullptr || (handle.serial != k_any && handle.serial != slot->serial)) return 0;
        std::uint64_t const bytes = slot->active ? slot->bytes : 0;
        end(*slot);
        return bytes;
    }

    /// The rank that a request waits for; -1 if it is not known.
    int awaited(MPI_Request request) noexcept {
        if (empty()) return -1;
        CallersLock const lock(changing_);
        OpenRequest const* const slot = find(request);
        return slot != nullptr ? slot->awaited : -1;
    }

    void forget(Handle const& handle) noexcept {
        if (empty() || handle.serial == k_unknown) return;
        CallersLock const lock(changing_);
        OpenRequest* const slot = find(handle.request);
        if (slot == nullptr || (handle.serial != k_any && handle.serial != slot->serial)) return;
        if (slot->active) listener_.landed(slot->site, slot->bytes);
        remove(*slot);
    }

    /// Looks at the receive buffers of open requests again: pages of them that became resident are the application's.
    void find_own_pages() noexcept {
        if (look_at(incomplete_) == 0) return;
        CallersLock const lock(changing_);
        for (std::size_t at = 0, left = incomplete_; left > 0 && at < k_slots; ++at) {
            OpenRequest& slot = (*slots_)[at];
            if (slot.absent == 0) continue;
            --left;
            find_own_pages(slot);
        }
    }

    bool empty() const noexcept { return look_at(kept_) == 0; }
    /// A request found no room: since then one may be open that is not in the table.
    bool has_dropped() const noexcept { return look_at(dropped_); }
    std::size_t kept() const noexcept { return look_at(kept_); }
    /// Slots that a search passes although nothing is in them.
    std::size_t marks() const noexcept {
        if (!slots_) return 0;
        return static_cast<std::size_t>(std::count_if(slots_->begin(), slots_->end(),
                                                      [](OpenRequest const& slot) { return slot.key == k_was_freed; }));
    }

  private:
    static constexpr unsigned k_slot_bits = 12;
    static constexpr std::uint64_t k_free = 0;
    static constexpr std::uint64_t k_was_freed = 1;
    static constexpr std::uint32_t k_any = 0;  // serial numbers
    static constexpr std::uint32_t k_unknown = 1;
    static constexpr std::uint32_t k_first_serial = 2;
    using Slots = std::array<OpenRequest, k_slots>;

    void make_slots() noexcept {
        try {
            void* const memory = memory::allocate_leased(budget_, sizeof(Slots), Purpose::bookkeeping);
            slots_.reset(new (memory) Slots());
        } catch (std::bad_alloc const&) {  // then requests are not counted
        }
    }
    OpenRequest* find(MPI_Request request) noexcept {
        if (!slots_) return nullptr;
        std::uint64_t const key = mpi::handle_key(request);
        for (std::size_t at = base::slot_of_key(key, k_slot_bits), probes = 0; probes < k_slots;
             at = (at + 1) % k_slots, ++probes) {
            OpenRequest& slot = (*slots_)[at];
            if (slot.key == key) return &slot;
            if (slot.key == k_free) return nullptr;
        }
        return nullptr;
    }

    OpenRequest& room_for(std::uint64_t key) noexcept {
        std::size_t at = base::slot_of_key(key, k_slot_bits);
        while ((*slots_)[at].key > k_was_freed)
            at = (at + 1) % k_slots;
        return (*slots_)[at];
    }

    void end(OpenRequest& slot) noexcept {
        if (slot.active) listener_.landed(slot.site, slot.bytes);
        find_own_pages(slot);
        slot.active = false;
        if (!slot.persistent) remove(slot);
    }

    /// A run of slots that are not free always ends with one in use: when the last request of a run goes, the marks of
    /// freed slots before it go, too.
    void remove(OpenRequest& slot) noexcept {
        if (slot.absent > 0) subtract(incomplete_, 1);
        subtract(kept_, 1);
        listener_.closed(slot.site);
        slot.absent = 0;
        slot.active = false;
        slot.key = k_was_freed;
        auto at = static_cast<std::size_t>(&slot - slots_->data());
        if ((*slots_)[(at + 1) % k_slots].key != k_free) return;
        for (; (*slots_)[at].key == k_was_freed; at = (at + k_slots - 1) % k_slots)
            (*slots_)[at].key = k_free;
    }

    void find_own_pages(OpenRequest& slot) noexcept {
        if (slot.absent == 0) return;
        std::uint64_t const still = listener_.absent(slot.buffer, slot.span);
        if (still < slot.absent) listener_.own_pages(slot.absent - still);
        slot.absent = std::min(still, slot.absent);
        if (slot.absent == 0) subtract(incomplete_, 1);
    }

    Listener& listener_;
    Budget const& budget_;
    std::mutex changing_;
    std::unique_ptr<Slots, memory::FreeLeased> slots_;  // from the first request on
    std::size_t kept_ = 0;
    std::size_t incomplete_ = 0;  // with pages that were not resident
    std::uint32_t next_serial_ = k_first_serial;
    bool dropped_ = false;
};

}  // namespace sluice::plugin
