// SPDX-License-Identifier: BSD-3-Clause
/// Open requests of the program: which memory they keep busy, since which call. The table grows to k_most_slots. Where
/// more are open, those that are not started move to a table that knows only their places; if all are started, a new
/// one does, and then its bytes are not counted as in flight. Requests of services are in
/// services/requests/owned_requests.
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
#include <optional>
#include <utility>

#include "base/fixed_table.hpp"
#include "memory/leased.hpp"
#include "mpi/handle_key.hpp"
#include "plugin/binding/clock.hpp"
#include "plugin/binding/tally.hpp"
#include "plugin/tables/open/flights.hpp"
#include "plugin/tables/open/lent_buffers.hpp"
#include "plugin/tables/open/look_share.hpp"
#include "plugin/tables/open/objects.hpp"

namespace sluice::plugin {

/// What is known of a request.
struct OpenRequest {
    std::uint64_t key = 0;    ///< the handle; 0: free, 1: was freed
    std::uint64_t bytes = 0;  ///< that it moves, in and out
    FlyingRange leaves;       ///< busy while the request is active; empty ones are not
    FlyingRange comes;
    std::uint64_t unknown = 0;  ///< bytes that are busy, too, at addresses that are not known
    // Of a message that comes: it is busy where its pages were not resident and have become so.
    void const* buffer = nullptr;  ///< that it receives into
    std::uint64_t span = 0;
    std::uint64_t absent = 0;                        ///< bytes of it that were not resident at its start
    std::uint64_t come = 0;                          ///< and are now
    std::uint32_t lent_at = LentBuffers::k_unknown;  ///< its place among the buffers that samples look at
    // Of a persistent one, for each start.
    std::uint64_t out = 0;
    std::uint64_t in = 0;
    std::uint32_t leaves_at = Flights::k_alone;  ///< places among the flights
    std::uint32_t comes_at = Flights::k_alone;
    std::uint32_t site = 0;
    std::uint32_t serial = 0;
    int awaited = -1;      ///< the world rank that its message comes from or goes to; -1: several, or unknown
    int destination = -1;  ///< the world rank that its bytes go to; -1: none, several, or unknown
    bool persistent = false;
    bool active = false;
};

/// What requests that begin move.
struct Begun {
    std::uint64_t out = 0;
    std::uint64_t in = 0;
    std::uint64_t unplaced = 0;  ///< of `out`: to no rank that is known
};

/// A request that a call may complete.
struct Handle {
    MPI_Request request;
    std::uint32_t serial;
};

/// `Listener` is told what the table finds out: opened(site), closed(site), flies(request) and landed(request), which
/// keep places in it, came(site, bytes), sent_to(rank, bytes), own_pages(bytes) and late_pages(bytes), which may have
/// come before the last reading; it says by may_look(span) whether there is time for a look at a buffer, by
/// absent(buffer, span) how many bytes of it are not resident, and has the time for looks at all of them,
/// looks_at_all(), and the buffers that samples look at, lent().
template <class Listener>
class OpenRequests {
  public:
    static constexpr std::size_t k_most_slots = std::size_t{1} << 12;
    static constexpr std::size_t k_most = k_most_slots * 3 / 4;

    /// `budget`: the table is leased from the first request on.
    OpenRequests(Listener& listener, Budget const& budget)
        : listener_(listener), budget_(budget), many_(budget), many_idle_(budget) {}
    Budget const& budget() const noexcept { return budget_; }

    /// `request` is not null.
    void add(MPI_Request request, OpenRequest const& what) noexcept {
        CallersLock const lock(changing_);
        // A handle that comes again was completed in a call that was not seen, or another thread is about to report it.
        if (OpenRequest* const old = find(request); old != nullptr) {
            old->persistent = false;
            end(*old);
        } else if (dropped_) [[unlikely]] {
            forget_one_of_many(request);
        }
        listener_.opened(what.site);
        if (!has_room()) return keep_among_many(mpi::handle_key(request), what);
        OpenRequest& slot = room_for(mpi::handle_key(request));
        slot = what;
        slot.key = mpi::handle_key(request);
        slot.active = !what.persistent;
        slot.serial = next_serial_;
        next_serial_ = std::max(next_serial_ + 1, k_first_serial);
        plugin::add(kept_, 1);
        if (slot.absent > 0) {
            plugin::add(incomplete_, 1);
            slot.lent_at = listener_.lent().lend(LentBuffers::k_request, slot.buffer, slot.span, slot.absent);
        }
        if (slot.active) listener_.flies(slot);
    }

    /// Makes the persistent ones active again.
    Begun begin(MPI_Request const* requests, int count) noexcept {
        Begun begun;
        if (empty()) return begun;
        CallersLock const lock(changing_);
        for (int i = 0; i < count; ++i) {
            OpenRequest* const slot = find(requests[i]);
            if (slot == nullptr || slot->active) continue;
            slot->active = true;
            listener_.flies(*slot);
            begun.out += slot->out;
            begun.in += slot->in;
            if (slot->destination >= 0)
                listener_.sent_to(slot->destination, slot->out);
            else
                begun.unplaced += slot->out;
        }
        return begun;
    }

    /// Writes down which requests the handles stand for now: with one calling thread for whatever they stand for later.
    void identify(Handle* handles, int count) noexcept {
        if (!g_plugin.several_threads) return;
        CallersLock const lock(changing_);
        for (int i = 0; i < count; ++i) {
            OpenRequest const* const slot = find(handles[i].request);
            bool const is_one_of_many = slot == nullptr && dropped_ && many_.knows(k_kind, key_of(handles[i].request));
            handles[i].serial = slot != nullptr ? slot->serial : is_one_of_many ? k_any : k_unknown;
        }
    }

    /// Ends one by the handle it had: its bytes, which are returned, are no longer in flight.
    std::uint64_t complete(Handle const& handle) noexcept {
        if (handle.serial == k_unknown) return 0;
        CallersLock const lock(changing_);
        OpenRequest* const slot = find(handle.request);
        if (slot == nullptr) {
            if (dropped_) [[unlikely]]
                close(many_.remove(k_kind, key_of(handle.request)));
            return 0;
        }
        if (handle.serial != k_any && handle.serial != slot->serial) return 0;
        std::uint64_t const bytes = slot->active ? slot->bytes : 0;
        end(*slot);
        return bytes;
    }

    /// A persistent one is between its start and its end, as far as is known.
    bool is_active(MPI_Request request) noexcept {
        if (empty()) return false;
        CallersLock const lock(changing_);
        OpenRequest const* const slot = find(request);
        return slot != nullptr && slot->active;
    }

    /// It is persistent, and not active as far as is known: MPI starts it.
    bool can_start(MPI_Request request) noexcept {
        CallersLock const lock(changing_);
        if (OpenRequest const* const slot = find(request)) return slot->persistent && !slot->active;
        return dropped_ && many_idle_.knows(k_kind, key_of(request));
    }

    /// The rank that a request waits for; -1 if it is not known.
    int awaited(MPI_Request request) noexcept {
        if (empty()) return -1;
        CallersLock const lock(changing_);
        OpenRequest const* const slot = find(request);
        return slot != nullptr ? slot->awaited : -1;
    }

    /// One that is active reads or writes bytes in [from, to), as far as its buffers are known.
    bool meets(std::uintptr_t from, std::uintptr_t to) noexcept {
        if (empty()) return false;
        CallersLock const lock(changing_);
        auto const meets = [&](std::uintptr_t begin, std::uint64_t span) { return begin < to && from < begin + span; };
        return std::any_of(slots_.get(), slots_.get() + size(), [&](OpenRequest const& slot) {
            return slot.active &&
                   (meets(slot.leaves.from, slot.leaves.span) || meets(slot.comes.from, slot.comes.span) ||
                    meets(reinterpret_cast<std::uintptr_t>(slot.buffer), slot.span));
        });
    }

    void forget(Handle const& handle) noexcept {
        if ((empty() && !dropped_) || handle.serial == k_unknown) return;
        CallersLock const lock(changing_);
        OpenRequest* const slot = find(handle.request);
        if (slot == nullptr) return forget_one_of_many(handle.request);
        if (handle.serial != k_any && handle.serial != slot->serial) return;
        if (slot->active) listener_.landed(*slot);
        remove(*slot);
    }

    /// Looks at the receive buffers of open requests again: pages of them that became resident are the application's.
    /// Where there is no time for all, the next look begins with those that it did not come to.
    void find_own_pages() noexcept {
        if (look_at(incomplete_) == 0) return;
        CallersLock const lock(changing_);
        look_at_all();
    }
    /// The same just after a reading, which may have seen pages that came after the look before it.
    void find_late_pages() noexcept {
        if (look_at(incomplete_) == 0) return;
        CallersLock const lock(changing_);
        is_behind_ = true;
        look_at_all();
    }
    /// The same for one that is about to be complete: what completes together was in flight together.
    void find_own_pages(Handle const& handle) noexcept {
        if (look_at(incomplete_) == 0 || handle.serial == k_unknown) return;
        CallersLock const lock(changing_);
        OpenRequest* const slot = find(handle.request);
        if (slot != nullptr && (handle.serial == k_any || handle.serial == slot->serial)) find_own_pages(*slot);
    }

    bool empty() const noexcept { return look_at(kept_) == 0; }
    /// Pages of a receive buffer are missing.
    bool is_incomplete() const noexcept { return look_at(incomplete_) > 0; }
    /// A request found no room: since then one may be open that is not in the table.
    bool has_dropped() const noexcept { return look_at(dropped_); }
    std::size_t kept() const noexcept { return look_at(kept_); }
    /// Slots that a search passes although nothing is in them.
    std::size_t marks() const noexcept {
        return static_cast<std::size_t>(std::count_if(slots_.get(), slots_.get() + size(),
                                                      [](OpenRequest const& slot) { return slot.key == k_was_freed; }));
    }

  private:
    static constexpr unsigned k_first_bits = 8;
    static constexpr unsigned k_most_bits = 12;
    static_assert(k_most_slots == std::size_t{1} << k_most_bits);
    static constexpr std::size_t k_tries = 64;
    static constexpr std::uint64_t k_free = 0;
    static constexpr std::uint64_t k_was_freed = 1;
    static constexpr std::uint32_t k_any = 0;  // serial numbers
    static constexpr std::uint32_t k_unknown = 1;
    static constexpr std::uint32_t k_first_serial = 2;
    static constexpr record::Object k_kind = record::Object::request;
    using Slots = std::unique_ptr<OpenRequest[], memory::FreeLeased>;

    static std::uint64_t key_of(MPI_Request request) noexcept { return mpi::handle_key(request); }
    std::size_t size() const noexcept { return slots_ ? std::size_t{1} << bits_ : 0; }
    std::size_t next_of(std::size_t at) const noexcept { return (at + 1) & (size() - 1); }

    bool has_room() noexcept {
        if (kept_ < size() * 3 / 4) return true;
        return (bits_ < k_most_bits && grow()) || move_an_idle_one();
    }
    /// False without memory.
    bool grow() noexcept {
        unsigned const bits = slots_ ? bits_ + 1 : k_first_bits;
        std::size_t const before = size();
        try {
            std::size_t const count = std::size_t{1} << bits;
            void* const memory = memory::allocate_leased(budget_, count * sizeof(OpenRequest), Purpose::bookkeeping);
            Slots larger(new (memory) OpenRequest[count]());
            std::swap(slots_, larger);
            bits_ = bits;
            for (std::size_t at = 0; at < before; ++at)
                if (larger[at].key > k_was_freed) room_for(larger[at].key) = larger[at];
        } catch (std::bad_alloc const&) {
            return false;
        }
        return true;
    }

    void keep_among_many(std::uint64_t key, OpenRequest const& what) noexcept {
        put(dropped_, true);
        if (!(what.persistent ? many_idle_ : many_).add(k_kind, key, what.site)) listener_.closed(what.site);
    }
    /// A persistent request that is not started may never be again. The hand goes round, so that each is moved in turn.
    bool move_an_idle_one() noexcept {
        for (std::size_t tries = 0; slots_ && tries < k_tries; ++tries) {
            hand_ = next_of(hand_);
            OpenRequest& slot = slots_[hand_];
            if (slot.key <= k_was_freed || slot.active || !many_idle_.add(k_kind, slot.key, slot.site)) continue;
            put(dropped_, true);
            free(slot);
            return true;
        }
        return false;
    }
    void forget_one_of_many(MPI_Request request) noexcept {
        if (!dropped_ || close(many_.remove(k_kind, key_of(request)))) return;
        close(many_idle_.remove(k_kind, key_of(request)));
    }
    bool close(std::optional<std::uint32_t> const& site) noexcept {
        if (site) listener_.closed(*site);
        return site.has_value();
    }

    OpenRequest* find(MPI_Request request) noexcept {
        std::uint64_t const key = key_of(request);
        std::size_t const count = size();
        OpenRequest* const slots = slots_.get();
        std::size_t at = count > 0 ? base::slot_of_key(key, bits_) : 0;
        for (std::size_t probes = 0; probes < count; at = (at + 1) & (count - 1), ++probes) {
            OpenRequest& slot = slots[at];
            if (slot.key == key) return &slot;
            if (slot.key == k_free) return nullptr;
        }
        return nullptr;
    }

    OpenRequest& room_for(std::uint64_t key) noexcept {
        std::size_t at = base::slot_of_key(key, bits_);
        while (slots_[at].key > k_was_freed)
            at = next_of(at);
        return slots_[at];
    }

    void end(OpenRequest& slot) noexcept {
        if (!find_own_pages(slot) && !slot.persistent) stays_unlooked(slot);
        if (slot.active) listener_.landed(slot);
        slot.active = false;
        if (!slot.persistent) remove(slot);
    }

    void remove(OpenRequest& slot) noexcept {
        listener_.closed(slot.site);
        free(slot);
    }
    /// A run of slots that are not free always ends with one in use: when the last request of a run goes, the marks of
    /// freed slots before it go, too.
    void free(OpenRequest& slot) noexcept {
        if (slot.absent > 0) completed(slot);
        subtract(kept_, 1);
        slot.absent = 0;
        slot.active = false;
        slot.key = k_was_freed;
        auto at = static_cast<std::size_t>(&slot - slots_.get());
        if (slots_[next_of(at)].key != k_free) return;
        for (; slots_[at].key == k_was_freed; at = (at + size() - 1) & (size() - 1))
            slots_[at].key = k_free;
    }

    /// No page of its buffer is missing any more, or none is waited for.
    void completed(OpenRequest& slot) noexcept {
        subtract(incomplete_, 1);
        listener_.lent().give_back(slot.lent_at);
        slot.lent_at = LentBuffers::k_unknown;
    }

    /// There was no time to look whether its pages have come.
    void stays_unlooked(OpenRequest const& slot) noexcept {
        LentBuffers& lent = listener_.lent();
        if (!lent.has_without_look(slot.buffer, slot.span)) lent.lend_without_look(slot.buffer, slot.span, slot.absent);
    }

    void look_at_all() noexcept {
        LookShare& looks = listener_.looks_at_all();
        std::size_t left = incomplete_;
        for (std::size_t tries = 0; left > 0 && tries < size(); ++tries, looking_ = next_of(looking_)) {
            OpenRequest& slot = slots_[looking_];
            if (slot.absent == 0) continue;
            std::uint64_t const from = ticks();
            if (!looks.allows(from)) break;
            if (find_own_pages(slot)) --left;
            looks.looked(from, ticks() - from);
        }
        is_behind_ = left > 0;
    }

    /// False if there is no time for it.
    bool find_own_pages(OpenRequest& slot) noexcept {
        if (slot.absent == 0) return true;
        if (!listener_.may_look(slot.span)) return false;
        std::uint64_t const still = std::min(listener_.absent(slot.buffer, slot.span), slot.absent);
        std::uint64_t const now = slot.absent - still;
        slot.absent = still;
        if (now == 0) return true;
        if (is_behind_)
            listener_.late_pages(now);
        else
            listener_.own_pages(now);
        if (still > 0)
            listener_.lent().still_misses(slot.lent_at, still);
        else
            completed(slot);
        if (!slot.active) return true;
        slot.come += now;
        listener_.came(slot.site, now);
        return true;
    }

    Listener& listener_;
    Budget const& budget_;
    std::mutex changing_;
    Slots slots_;  // 2^bits_, from the first request on
    unsigned bits_ = 0;
    std::size_t hand_ = 0;
    Objects many_;       // what found no room, and is started
    Objects many_idle_;  // persistent ones
    std::size_t kept_ = 0;
    std::size_t incomplete_ = 0;  // with pages that were not resident
    std::size_t looking_ = 0;     // the slot at which the next look at all begins
    bool is_behind_ = false;      // the last one did not come to all
    std::uint32_t next_serial_ = k_first_serial;
    bool dropped_ = false;
};

}  // namespace sluice::plugin
