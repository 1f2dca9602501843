#include "interpose/call.hpp"

#include <algorithm>
#include <bit>

#include "interpose/message_bytes.hpp"
#include "interpose/watch.hpp"

namespace sluice::interpose {

namespace {

// Calls from this long on are kept as events.
constexpr std::uint64_t k_long_call_us = 100;
constexpr std::uint64_t k_seen_in_flight = 65536;

/// Calls of these kinds are rare and may allocate much: their memory is read at both ends always.
bool is_expensive(report::Kind kind) noexcept {
    return kind == report::Kind::setup || kind == report::Kind::communicator || kind == report::Kind::window;
}

std::size_t bucket_of(std::uint64_t bytes) noexcept {
    return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(bytes)), report::k_sizes - 1);
}

}  // namespace

Call::Call(Function function, void const* caller) noexcept {
    Watch& watch = *g_watch;
    site_ = watch.sites().of(function, caller);
    start_ = ticks();
    reading_ = watch.memory().is_due(start_) || is_expensive(k_function_kinds[static_cast<std::size_t>(function)]);
    if (reading_) {
        watch.requests().find_own_pages();
        reading_ = watch.memory().enter(start_);
    }
    if (watch.memory().take_shrunk()) watch.resident_buffers().forget_all();
    watch.entered(site_, watch.clock().us_since_start(start_), reading_);
}

void Call::to(int destination, MPI_Comm comm) noexcept {
    if (destination >= 0) destination_ = g_watch->communicators().world_rank(comm, destination);
}

void Call::into(void* buffer, MPI_Count count, MPI_Datatype type) noexcept {
    if (buffer == nullptr || buffer == MPI_IN_PLACE || in_ == 0) return;
    std::uint64_t const span = span_of(count, type);
    if (g_watch->resident_buffers().knows(buffer, span)) return;
    buffer_ = buffer;
    span_ = span;
    absent_ = MemoryWatch::absent(buffer, span);
    if (absent_ == 0)
        g_watch->resident_buffers().add(buffer, span);
    else
        g_watch->receives_into(buffer, span, absent_);
}

/// Buffers of a blocking call are in flight while it lasts. Small ones are over before anybody samples.
void Call::waits() noexcept {
    waits_ = true;
    flying_ = kept_busy() >= k_seen_in_flight ? kept_busy() : 0;
    if (flying_ > 0) g_watch->flies(site_, flying_);
}

void Call::passes_on() noexcept {
    g_watch->add(g_watch->record().head.passed_on, 1);
}

void Call::starts(MPI_Request request) noexcept {
    OpenRequest open;
    open.bytes = kept_busy();
    open.site = site_;
    open.buffer = buffer_;
    open.span = span_;
    open.absent = absent_;
    absent_ = 0;
    stays_open_ = true;
    g_watch->requests().add(request, open);
}

void Call::persistent(MPI_Request request) noexcept {
    OpenRequest open;
    open.bytes = kept_busy();
    open.site = site_;
    open.persistent = true;
    stays_open_ = true;
    g_watch->requests().add(request, open);
}

void Call::frees(MPI_Comm comm) noexcept {
    if (comm != MPI_COMM_NULL) g_watch->communicators().remove(comm, g_watch->clock().us_since_start(start_));
}

void Call::makes_window(MPI_Win) noexcept {
    g_watch->add(g_watch->record().head.windows_made, 1);
}

void Call::frees_window(MPI_Win) noexcept {
    g_watch->add(g_watch->record().head.windows_freed, 1);
}

int Call::end(int code) noexcept {
    Watch& watch = *g_watch;
    report::RankRecord& record = watch.record();
    report::Site& site = record.sites[site_];
    std::uint64_t own = 0;
    if (flying_ > 0) watch.landed(site_, flying_);
    if (buffer_ != nullptr) watch.receives_into(nullptr, 0, 0);
    if (absent_ > 0) {
        std::uint64_t const still = MemoryWatch::absent(buffer_, span_);
        own = absent_ - std::min(still, absent_);
        if (still == 0) watch.resident_buffers().add(buffer_, span_);
    }
    if (reading_) watch.requests().find_own_pages();
    std::uint64_t const now = ticks();
    std::uint64_t const elapsed = now - start_;
    std::uint64_t const now_us = watch.clock().us_since_start(now);
    std::uint64_t const ns = watch.clock().ns(elapsed);
    std::uint64_t const grown_before = site.grown_private + site.grown_shared;
    watch.memory().leave(now, elapsed, reading_, own, site, watch.clock().us_since_start(start_));
    if (makes_) watch.communicators().add(made_, site_, site.grown_private + site.grown_shared - grown_before, now_us);

    if (site.calls == 0) site.first_us = now_us;
    site.last_us = now_us;
    watch.add(site.calls, 1);
    watch.add(site.time_ns, ns);
    watch.add(record.head.time_in_mpi_ns, ns);
    if (ns > site.longest_ns) site.longest_ns = ns;
    if (waits_) {
        watch.add(site.waiting_ns, ns);
        watch.add(record.head.waiting_ns, ns);
    }
    std::uint64_t const moved = out_ + in_;
    if (moved > 0) {
        watch.add(site.bytes_out, out_);
        watch.add(site.bytes_in, in_);
        ++site.sizes[bucket_of(std::max(out_, in_))];
        if (destination_ >= 0) watch.sent_to(destination_, out_);
        if (!stays_open_) site.in_flight_peak = std::max(site.in_flight_peak, kept_busy());
    }
    if (ns >= k_long_call_us * 1000) watch.keep_event(site_, watch.clock().us_since_start(start_), ns / 1000, moved);
    watch.left(now_us);
    return code;
}

}  // namespace sluice::interpose
