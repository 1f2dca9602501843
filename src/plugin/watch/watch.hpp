// SPDX-License-Identifier: BSD-3-Clause
/// What is watched in this process, in one place: its record and the writers of it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "plugin/binding/clock.hpp"
#include "plugin/binding/tally.hpp"
#include "plugin/tables/communicators.hpp"
#include "plugin/tables/datatypes.hpp"
#include "plugin/tables/growth/makings.hpp"
#include "plugin/tables/memory_watch.hpp"
#include "plugin/tables/open/flights.hpp"
#include "plugin/tables/open/lent_buffers.hpp"
#include "plugin/tables/open/look_share.hpp"
#include "plugin/tables/open/objects.hpp"
#include "plugin/tables/open/used_pages.hpp"
#include "plugin/tables/open/windows.hpp"
#include "plugin/tables/open_calls.hpp"
#include "plugin/tables/resident_buffers.hpp"
#include "plugin/tables/sites.hpp"
#include "plugin/watch/arrival.hpp"
#include "plugin/watch/requests.hpp"
#include "plugin/watch/transfers.hpp"
#include "record/record_file.hpp"

namespace sluice::plugin {

class Watch {
  public:
    /// `budget`: of this process; must outlive the Watch.
    Watch(record::RecordFile file, Budget const& budget);

    record::RecordFile& file() noexcept { return file_; }
    record::RankRecord& record() noexcept { return file_.record(); }
    Clock& clock() noexcept { return clock_; }
    /// Before calls are watched: they look at their buffers. Needs the clock.
    void start_looks() noexcept {
        for (LookShare* const share : {&looks_, &sample_looks_})
            share->start(clock_, k_looks_at_once_us);
        looks_at_all_.start(clock_, k_looks_at_all_at_once_us);
        memory_.start_looks(clock_);
    }
    Sites& sites() noexcept { return sites_; }
    MemoryWatch& memory() noexcept { return memory_; }
    Makings& makings() noexcept { return makings_; }
    Requests& requests() noexcept { return requests_; }
    Communicators& communicators() noexcept { return communicators_; }
    Datatypes& datatypes() noexcept { return datatypes_; }
    ResidentBuffers& resident_buffers() noexcept { return resident_buffers_; }
    Transfers& transfers() noexcept { return transfers_; }
    Windows& windows() noexcept { return windows_; }
    LentBuffers& lent() noexcept { return lent_; }

    /// A buffer of the application that communication keeps busy. Returns its place, for `landed`. A large one in a
    /// mapped file or in shared memory is not the application's, and is not counted.
    std::uint32_t flies(std::uint32_t site, FlyingRange const& range) noexcept {
        if (range.bytes == 0) return Flights::k_alone;
        if (range.bytes >= k_least_looked_at && is_elsewhere(range)) [[unlikely]]
            return Flights::k_elsewhere;
        std::uint32_t place = Flights::k_alone;
        if (range.bytes < k_least_compared)
            flights_.add_bytes(site, range.bytes);
        else
            place = flights_.add(site, range);
        raise_flight(site);
        return place;
    }
    void landed(std::uint32_t site, FlyingRange const& range, std::uint32_t place) noexcept {
        if (range.bytes > 0 && place != Flights::k_elsewhere) flights_.remove(site, range, place);
    }
    /// The same for bytes whose addresses are not known.
    void flies(std::uint32_t site, std::uint64_t bytes) noexcept {
        flights_.add_bytes(site, bytes);
        raise_flight(site);
    }
    void landed(std::uint32_t site, std::uint64_t bytes) noexcept { flights_.remove_bytes(site, bytes); }
    Flights const& flights() const noexcept { return flights_; }
    /// Memory was given back to the kernel: an address may come again with other pages.
    void forget_pages() noexcept {
        resident_buffers_.forget_all();
        own_buffers_.forget_all();
        lent_.give_back_all(LentBuffers::k_without_look);
    }
    UsedPages& used_pages() noexcept { return used_pages_; }

    // For the table of open requests.
    // Requests are many and quick: reports add up their places. Place 0 has objects of all kinds.
    void opened(std::uint32_t site) noexcept {
        if (site == 0) return count_made(record::Object::request, site);
        add(record().sites[site].made, 1);
        put(record().sites[site].object, record::Object::request);
    }
    void closed(std::uint32_t site) noexcept {
        if (site == 0) return count_freed(record::Object::request, site);
        add(record().sites[site].freed, 1);
    }
    void flies(OpenRequest& request) noexcept {
        request.leaves_at = flies(request.site, request.leaves);
        request.comes_at = flies(request.site, request.comes);
        if (request.unknown > 0) flies(request.site, request.unknown);
    }
    void landed(OpenRequest& request) noexcept {
        landed(request.site, request.leaves, request.leaves_at);
        landed(request.site, request.comes, request.comes_at);
        if (std::uint64_t const others = request.unknown + request.come; others > 0) landed(request.site, others);
        request.come = 0;
        if (record().sites[request.site].kind != record::Kind::receive) return;
        received();
        flights_.see_highest(request.in);  // an MPI registers the buffer of a receive when its message has come
    }
    /// Pages of a buffer that a message comes into.
    void came(std::uint32_t site, std::uint64_t bytes) noexcept { flies(site, bytes); }
    /// The same of a blocking call that is about to end; samples have asked for its pages themselves.
    void came_at(std::uint32_t site, std::uint64_t bytes) noexcept {
        raise(record().sites[site].in_flight_peak, flights_.of_site(site) + bytes);
        flights_.see_highest(bytes);
    }

    /// The program has got an object that it has to free. `handle`: its key.
    void made(record::Object kind, std::uint64_t handle, std::uint32_t site) noexcept;
    /// MPI made one for itself, or for a function of the program that it calls: its free must not count as another's.
    void made_inside(record::Object kind, std::uint64_t handle) noexcept;
    /// The site that made it; null if it is not known.
    record::Site* freed(record::Object kind, std::uint64_t handle) noexcept;

    /// Of requests nothing is written down: not all calls that complete them are watched.
    void ignore_requests() noexcept { follows_requests_ = false; }
    bool follows_requests() const noexcept { return follows_requests_; }

    /// At the begin of a call with a reading, at `now` in ticks. False where another thread is reading.
    bool reads_at_entry(std::uint64_t now) noexcept {
        requests_.find_own_pages();
        bool const reads = memory_.enter(now, clock_.us_since_start(now));
        if (reads) has_read();
        return reads;
    }
    /// After a reading. Other threads may have filled buffers of open requests between the look at them and the
    /// reading, such as those of the C library that read files for the MPI.
    void has_read() noexcept {
        if (memory_.gave_much()) [[unlikely]]
            requests_.find_late_pages();
    }

    // For calls that make an object and are short.
    /// True if its memory is measured: `ends_making` must be told. `now`: in ticks.
    bool begins_making(std::uint32_t site, std::uint64_t now) noexcept {
        bool const is_measured = memory_.is_due(now) || makings_.wants(site);
        if (!is_measured && !makings_.is_outside()) [[likely]]
            return false;
        if (!reads_at_entry(now)) return false;
        makings_.begins(is_measured);
        return is_measured;
    }
    /// After it has made one of `kind` and MemoryWatch::leave has told what the MPI has taken.
    void ends_making(record::Object kind, std::uint32_t site, std::uint64_t ticks, bool measured,
                     std::uint64_t taken) noexcept;

    /// True if the call of this site before had another buffer.
    bool is_other_buffer(std::uint32_t site, void const* buffer) noexcept {
        if (look_at(last_buffers_[site]) == buffer) [[likely]]
            return false;
        put(last_buffers_[site], buffer);
        return true;
    }
    /// A receive is complete. Ranks that wait for this one look at the sum: it tells whether it moves, not how many.
    void received() noexcept { add(record().head.receives, 1); }
    /// The bytes of a call that returned before they came are there now. Only on a thread that
    /// calls MPI: the numbers are tallies, which one calling thread adds to without atomic instructions, so additions
    /// of a helper thread would be lost.
    void arrived(Arrival const& arrival) noexcept {
        landed(arrival.site, arrival.bytes);
        if (arrival.absent == 0) return;
        if (!may_look(arrival.span)) return lent_.lend_without_look(arrival.buffer, arrival.span, arrival.absent);
        std::uint64_t const still = absent(arrival.buffer, arrival.span);
        own_pages(arrival.absent - std::min(still, arrival.absent));
    }
    /// A buffer whose pages may come in later calls. Nothing if all are there.
    void lends(std::uint64_t owner, void const* from, std::uint64_t bytes) noexcept {
        if (!may_look(bytes)) return;
        if (std::uint64_t const missing = absent(from, bytes); missing > 0) lent_.lend(owner, from, bytes, missing);
    }
    /// Before an owner gives its buffers back.
    void gives_back(std::uint64_t owner, void const* from = nullptr) noexcept {
        memory_.late_pages(lent_.find(owner, from, looks_));
    }
    void late_pages(std::uint64_t bytes) noexcept { memory_.late_pages(bytes); }
    /// Pages of the program's own buffers became resident inside MPI: they are the application's.
    void own_pages(std::uint64_t bytes) noexcept { memory_.own_pages(bytes); }
    /// Bytes of a buffer that are not resident.
    std::uint64_t absent(void const* buffer, std::uint64_t span) noexcept {
        if (span <= LookShare::k_always) [[likely]]
            return MemoryWatch::absent(buffer, span);
        LookShare::Look const look(looks_);
        return MemoryWatch::absent(buffer, span);
    }
    /// The time for looks at the buffers of all open requests.
    LookShare& looks_at_all() noexcept { return looks_at_all_; }
    /// Calls ask about small buffers always, and about larger ones while that takes its share of the time.
    bool may_look(std::uint64_t span) const noexcept { return looks_.allows_look_at(span); }
    /// The receive buffer of the call that the rank is in, of which `absent` bytes were not resident at its begin. For
    /// samples in the middle of it. Of several threads' calls one is kept: true for that, which says when it is over.
    bool receives_into(void const* buffer, std::uint64_t span, std::uint64_t absent) noexcept {
        if (receiving_.exchange(true, std::memory_order_acquire)) return false;
        span_.store(span, std::memory_order_relaxed);
        absent_.store(absent, std::memory_order_relaxed);
        buffer_.store(buffer, std::memory_order_release);
        return true;
    }
    /// After the pages of its buffer were told. A sample that saw only one of both is taken again.
    void has_received() noexcept {
        buffer_.store(nullptr, std::memory_order_relaxed);
        memory_.call_is_over();
        receiving_.store(false, std::memory_order_release);
    }
    /// Bytes that went to a rank of MPI_COMM_WORLD, or came from it in a call that its sender does not count.
    void sent_to(int world_rank, std::uint64_t bytes) noexcept { exchanged(record().peers, world_rank, bytes); }
    void came_from(int world_rank, std::uint64_t bytes) noexcept { exchanged(record().received, world_rank, bytes); }

    /// Memory and state now, with the pages of Sluice's own mappings as of the last look.
    record::Sample sample(KernelSays& kernel) noexcept;

    /// The call that the rank is in, for samples and for whoever reads the record of a killed job. The number is for
    /// `left`. Of several threads' calls the helper thread writes down the oldest with every sample.
    std::uint32_t entered(std::uint32_t site, std::uint64_t now_us, bool reading) noexcept {
        if (reading) add(calls_with_reading_, 1);
        if (g_plugin.several_threads) return open_calls_.entered(site, now_us);
        put(record().head.current_site, site);
        put(record().head.current_since_us, now_us);
        return OpenCalls::k_none;
    }
    void left(std::uint32_t number, std::uint64_t now_us, bool reading) noexcept {
        if (reading) subtract(calls_with_reading_, 1);
        put(record().head.now_us, now_us);
        if (g_plugin.several_threads) return open_calls_.left(number);
        put(record().head.current_since_us, now_us);
        put(record().head.current_site, record::k_no_site);
    }
    void keep_event(std::uint32_t site, std::uint64_t start_us, std::uint64_t duration_us,
                    std::uint64_t bytes) noexcept;

  private:
    /// Pages of buffers that came in calls which are not over, as a sample sees them.
    struct SeenPages {
        std::uint64_t of_call = 0;
        std::uint64_t of_others = 0;
        void const* buffer = nullptr;
        std::uint32_t version = 0;  ///< of the memory: it changes when a reading has found the pages
    };
    /// What a sample says of the MPI that was not taken inside a reading. One that was may count twice what that
    /// brings.
    struct SampleOutside {
        std::uint32_t mpi_private = ~std::uint32_t{0};
        std::uint32_t mpi_shared = ~std::uint32_t{0};
        void limit(record::Sample& sample) const noexcept {
            sample.mpi_private = std::min(sample.mpi_private, mpi_private);
            sample.mpi_shared = std::min(sample.mpi_shared, mpi_shared);
        }
    };

    record::RecordFile file_;
    Clock clock_;
    Sites sites_;
    MemoryWatch memory_;
    Makings makings_;
    Requests requests_;
    Communicators communicators_;
    Datatypes datatypes_;
    ResidentBuffers resident_buffers_;
    ResidentBuffers own_buffers_;  // of which some page is the application's
    OpenCalls open_calls_;
    Transfers transfers_;
    Flights flights_;
    UsedPages used_pages_;
    Objects objects_;
    Windows windows_;
    LentBuffers lent_;
    LookShare looks_{k_part_of_looks};
    LookShare looks_at_all_{k_part_of_looks};
    LookShare sample_looks_{k_part_of_looks};
    SeenPages seen_;  // when the sampler looked last
    SampleOutside last_outside_;
    void exchanged(std::array<record::Peer, record::k_peers>& with, int world_rank, std::uint64_t bytes) noexcept;
    std::uint64_t pages_of_call() const noexcept;
    SeenPages look_for_sample() noexcept;
    bool is_elsewhere(FlyingRange const& range) noexcept;
    /// Whose pages a smaller buffer has is not asked: the look costs some µs.
    static constexpr std::uint64_t k_least_looked_at = 1 << 20;
    static constexpr std::uint64_t k_part_of_looks = 20;
    static constexpr std::uint64_t k_looks_at_once_us = 250000;
    static constexpr std::uint64_t k_looks_at_all_at_once_us = 20000;
    /// Smaller buffers are many, and cost less than to compare them.
    static constexpr std::uint64_t k_least_compared = 4096;
    /// Between two threads' additions it is what both have in flight.
    void raise_flight(std::uint32_t site) noexcept {
        raise(record().sites[site].in_flight_peak, flights_.of_site(site));
        flights_.see_highest(0);
    }
    void count_made(record::Object kind, std::uint32_t site) noexcept {
        add(record().sites[site].made, 1);
        put(record().sites[site].object, kind);
        add(record().head.objects[static_cast<std::size_t>(kind)].made, 1);
    }
    void count_freed(record::Object kind, std::uint32_t site) noexcept {
        add(record().sites[site].freed, 1);
        add(record().head.objects[static_cast<std::size_t>(kind)].freed, 1);
    }

    bool follows_requests_ = true;
    std::atomic<bool> receiving_{false};
    std::atomic<void const*> buffer_{nullptr};
    std::atomic<std::uint64_t> span_{0};
    std::atomic<std::uint64_t> absent_{0};
    // Tallies.
    std::uint32_t calls_with_reading_ = 0;
    std::array<void const*, record::k_sites> last_buffers_{};
};

}  // namespace sluice::plugin
