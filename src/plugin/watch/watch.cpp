// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/watch/watch.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "kernel/page_map.hpp"

namespace sluice::plugin {

Watch::Watch(record::RecordFile file, Budget const& budget)
    : file_(std::move(file)),
      sites_(file_.record()),
      memory_(&budget),
      makings_(file_.record()),
      requests_(*this, budget),
      communicators_(file_.record(), budget),
      datatypes_(budget),
      objects_(budget),
      windows_(budget) {
    memory_.follow(lent_);
    memory_.follow(makings_);
    memory_.own().add(&file_.node(), sizeof(record::NodeHeader), file_.on_disk());
    memory_.own().add(&file_.record(), sizeof(record::RankRecord), file_.on_disk());
}

namespace {

constexpr int k_tries = 16;
// A thread of the program that has no processor in the middle of a reading is waited for so many times longer.
constexpr int k_pauses = 16;
constexpr std::chrono::milliseconds k_pause{1};

/// MPI gives a handle again that the program has: each is to be freed.
bool may_repeat(record::Object kind) noexcept {
    return kind == record::Object::group || kind == record::Object::error_handler || kind == record::Object::datatype;
}

}  // namespace

void Watch::made(record::Object kind, std::uint64_t handle, std::uint32_t site) noexcept {
    if (!may_repeat(kind)) freed(kind, handle);  // the one before it was, in a call that was not seen
    count_made(kind, site);
    if (!objects_.add(kind, handle, site)) count_freed(kind, site);
}

void Watch::made_inside(record::Object kind, std::uint64_t handle) noexcept {
    if (may_repeat(kind)) objects_.add(kind, handle, record::k_no_site);
}

record::Site* Watch::freed(record::Object kind, std::uint64_t handle) noexcept {
    std::optional<std::uint32_t> const site = objects_.remove(kind, handle);
    if (!site || *site == record::k_no_site) return nullptr;
    count_freed(kind, *site);
    return &record().sites[*site];
}

void Watch::ends_making(record::Object kind, std::uint32_t site, std::uint64_t ticks, bool measured,
                        std::uint64_t taken) noexcept {
    take(record().head.objects[static_cast<std::size_t>(kind)], taken,
         measured ? Measured::exactly : Measured::by_share);
    if (measured)
        makings_.measured(site, taken);
    else if (!memory_.is_long(ticks))
        makings_.unread(kind, site, ticks);
}

namespace {

/// Asks the kernel about the first page, one in the middle and the last. True also where it does not tell.
bool has_own_page(FlyingRange const& range) noexcept {
    kernel::PageMap const pages;
    for (std::uint64_t const at : {std::uint64_t{0}, range.span / 2, range.span - 1}) {
        auto const page = pages.resident(range.from + at, 1);
        if (!page || page->anonymous + page->swapped > 0) return true;
    }
    return false;
}

}  // namespace

/// A buffer that was never written is in no memory of the application either. Each of its buffers is looked at once.
bool Watch::is_elsewhere(FlyingRange const& range) noexcept {
    void const* const buffer = reinterpret_cast<void const*>(range.from);
    if (own_buffers_.knows(buffer, range.span)) [[likely]]
        return false;
    int const errno_of_program = errno;
    std::uint64_t const asked_at = own_buffers_.generation();
    bool const is_own = has_own_page(range);
    errno = errno_of_program;
    if (is_own) own_buffers_.add(buffer, range.span, asked_at);
    return !is_own;
}

void Watch::exchanged(std::array<record::Peer, record::k_peers>& with, int world_rank, std::uint64_t bytes) noexcept {
    record::RankHead const& head = record().head;
    if (world_rank < 0 || static_cast<std::uint32_t>(world_rank) >= head.world_size) return;
    record::Peer& peer = with[record::bin_of(static_cast<std::uint32_t>(world_rank), head.world_size)];
    add(peer.bytes, bytes);
    add(peer.messages, 1);
}

/// Of the call's own buffer: the kernel is asked whether the pages are there, which is no access to them.
std::uint64_t Watch::pages_of_call() const noexcept {
    void const* const buffer = buffer_.load(std::memory_order_acquire);
    if (buffer == nullptr) return 0;
    std::uint64_t const absent = absent_.load(std::memory_order_relaxed);
    std::uint64_t const span = span_.load(std::memory_order_relaxed);
    // The call may have ended meanwhile, and these be another's.
    std::atomic_thread_fence(std::memory_order_acquire);
    if (buffer_.load(std::memory_order_relaxed) != buffer) return 0;
    return absent - std::min(absent, MemoryWatch::absent(buffer, span));
}

/// With very large buffers not every sample has time for a look.
Watch::SeenPages Watch::look_for_sample() noexcept {
    void const* const buffer = buffer_.load(std::memory_order_acquire);
    std::uint32_t const version = memory_.version();
    if (!sample_looks_.allows(ticks())) return buffer == seen_.buffer && version == seen_.version ? seen_ : SeenPages{};
    LookShare::Look const look(sample_looks_);
    seen_ = {pages_of_call(), lent_.come(), buffer, version};
    return seen_;
}

namespace {

/// Buffers in flight are the application's. What it does not have is in no memory of its own: pages that were never
/// written, shared memory and files, or pages of the heap that MPI took first.
std::uint32_t in_flight_at_most(record::Sample const& sample) noexcept {
    std::uint32_t const others = sample.mpi_private + sample.mpi_shared + sample.files + sample.sluice;
    return sample.resident - std::min(others, sample.resident);
}

}  // namespace

record::Sample Watch::sample(KernelSays& kernel) noexcept {
    record::RankHead& head = record().head;
    if (g_plugin.several_threads) {
        OpenCalls::Entered const oldest = open_calls_.oldest();
        put(head.current_site, oldest.site);
        put(head.current_since_us, oldest.since_us);
    }
    std::uint64_t const now = ticks();
    std::uint64_t const now_us = clock_.us_since_start(now);
    std::uint32_t const site = look_at(head.current_site);
    std::uint64_t const since_us = look_at(head.current_since_us);
    std::uint64_t const open_us = site != record::k_no_site && now_us > since_us ? now_us - since_us : 0;
    record::Site const* const open = open_us > 0 ? &record().sites[site] : nullptr;
    record::Sample sample;
    // A reading of the program's thread between two of the numbers would give its pages to the MPI.
    bool is_whole = false;
    bool is_inside = false;
    for (int tries = 0; !is_whole && tries < k_tries + k_pauses; ++tries) {
        if (tries > k_tries)
            std::this_thread::sleep_for(k_pause);
        else if (tries > 0)
            std::this_thread::yield();
        std::uint32_t const version = memory_.version();
        std::uint64_t const flying = flights_.of_rank();
        MemoryWatch::Reading const reading = memory_.read_with_peak(kernel);
        // Looked for after the reading: pages that come meanwhile are not taken for the MPI's.
        SeenPages const come = look_for_sample();
        sample = memory_.sample(reading, now, look_at(calls_with_reading_) > 0, open, clock_.ticks_in_us(open_us),
                                come.of_call + come.of_others);
        // The program may start or end a call, and touch or free its buffers, at any moment of the reading.
        sample.in_flight = static_cast<std::uint32_t>((std::min(flying, flights_.of_rank()) + come.of_call) / 1024);
        std::uint32_t const after = memory_.version();
        is_inside = version % 2 != 0 || after % 2 != 0;
        is_whole = !is_inside && after == version;
    }
    if (is_inside)
        last_outside_.limit(sample);
    else
        last_outside_ = {sample.mpi_private, sample.mpi_shared};
    sample.in_flight = std::min(sample.in_flight, in_flight_at_most(sample));
    sample.time_us = now_us;
    sample.left_pinned = static_cast<std::uint32_t>(used_pages_.bytes() / 1024);
    sample.used_at_once = static_cast<std::uint32_t>(flights_.take_highest() / 1024);
    sample.site = site;
    return sample;
}

void Watch::keep_event(std::uint32_t site, std::uint64_t start_us, std::uint64_t duration_us,
                       std::uint64_t bytes) noexcept {
    std::uint64_t const number = std::atomic_ref(record().head.events).fetch_add(1, std::memory_order_relaxed);
    record::Event& event = record().events[number % record::k_events];
    event.start_us = start_us;
    event.duration_us = static_cast<std::uint32_t>(std::min<std::uint64_t>(duration_us, 0xffff'ffffU));
    event.site = site;
    event.bytes = bytes;
}

}  // namespace sluice::plugin
