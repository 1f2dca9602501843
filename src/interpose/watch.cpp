#include "interpose/watch.hpp"

#include <algorithm>

namespace sluice::interpose {

Watch* g_watch = nullptr;

Watch::Watch(std::string path) : file_(std::move(path)), sites_(file_.record()), communicators_(file_.record()) {}

void Watch::sent_to(int world_rank, std::uint64_t bytes) noexcept {
    report::RankHead const& head = record().head;
    if (world_rank < 0 || static_cast<std::uint32_t>(world_rank) >= head.world_size) return;
    std::uint64_t const bin = head.world_size <= report::k_peers
                                  ? static_cast<std::uint64_t>(world_rank)
                                  : static_cast<std::uint64_t>(world_rank) * report::k_peers / head.world_size;
    add(record().peers[bin].bytes, bytes);
    add(record().peers[bin].messages, 1);
}

/// Of the call's own buffer: the kernel is asked whether the pages are there, which is no access to them.
std::uint64_t Watch::pages_of_call() const noexcept {
    void const* const buffer = buffer_.load(std::memory_order_acquire);
    if (buffer == nullptr) return 0;
    std::uint64_t const absent = absent_.load(std::memory_order_relaxed);
    return absent - std::min(absent, MemoryWatch::absent(buffer, span_.load(std::memory_order_relaxed)));
}

report::Sample Watch::sample() noexcept {
    report::Sample sample = memory_.sample(in_call_since_reading_.load(std::memory_order_relaxed), pages_of_call());
    sample.time_us = clock_.us_since_start(ticks());
    sample.in_flight = static_cast<std::uint32_t>(in_flight_.load(std::memory_order_relaxed) / 1024);
    sample.site = record().head.current_site;
    return sample;
}

void Watch::keep_event(std::uint32_t site, std::uint64_t start_us, std::uint64_t duration_us,
                       std::uint64_t bytes) noexcept {
    std::uint64_t const number = std::atomic_ref(record().head.events).fetch_add(1, std::memory_order_relaxed);
    report::Event& event = record().events[number % report::k_events];
    event.start_us = start_us;
    event.duration_us = static_cast<std::uint32_t>(std::min<std::uint64_t>(duration_us, 0xffff'ffffU));
    event.site = site;
    event.bytes = bytes;
}

}  // namespace sluice::interpose
