/// What is watched in this process, in one place: its record and who writes into it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "interpose/clock.hpp"
#include "interpose/communicators.hpp"
#include "interpose/memory_watch.hpp"
#include "interpose/requests.hpp"
#include "interpose/resident_buffers.hpp"
#include "interpose/sites.hpp"
#include "report/record_file.hpp"

namespace sluice::interpose {

class Watch {
  public:
    /// `path`: of the node's file; empty for none.
    explicit Watch(std::string path);

    report::RecordFile& file() noexcept { return file_; }
    report::RankRecord& record() noexcept { return file_.record(); }
    Clock& clock() noexcept { return clock_; }
    Sites& sites() noexcept { return sites_; }
    MemoryWatch& memory() noexcept { return memory_; }
    Requests& requests() noexcept { return requests_; }
    Communicators& communicators() noexcept { return communicators_; }
    ResidentBuffers& resident_buffers() noexcept { return resident_buffers_; }

    /// Several threads may call MPI at once: sums are then added atomically.
    void set_threads(bool several) noexcept { threads_ = several; }
    void add(std::uint64_t& to, std::uint64_t amount) noexcept {
        if (threads_)
            std::atomic_ref(to).fetch_add(amount, std::memory_order_relaxed);
        else
            to += amount;
    }

    /// Bytes of the application's buffers that communication keeps busy.
    void flies(std::uint32_t site, std::uint64_t bytes) noexcept {
        in_flight_.fetch_add(bytes, std::memory_order_relaxed);
        std::uint64_t const here = site_in_flight_[site].fetch_add(bytes, std::memory_order_relaxed) + bytes;
        if (here > record().sites[site].in_flight_peak) record().sites[site].in_flight_peak = here;
    }
    void landed(std::uint32_t site, std::uint64_t bytes) noexcept {
        in_flight_.fetch_sub(bytes, std::memory_order_relaxed);
        site_in_flight_[site].fetch_sub(bytes, std::memory_order_relaxed);
    }
    /// Pages of the program's own buffers became resident inside MPI: they are the application's.
    void own_pages(std::uint64_t bytes) noexcept { memory_.own_pages(bytes); }
    /// The receive buffer of the call that the rank is in, of which `absent` bytes were not resident at its begin; null
    /// at its end. For samples in the middle of it.
    void receives_into(void const* buffer, std::uint64_t span, std::uint64_t absent) noexcept {
        span_.store(span, std::memory_order_relaxed);
        absent_.store(absent, std::memory_order_relaxed);
        buffer_.store(buffer, std::memory_order_release);
    }
    /// Bytes that went to a rank of MPI_COMM_WORLD.
    void sent_to(int world_rank, std::uint64_t bytes) noexcept;

    /// Memory and state now.
    report::Sample sample() noexcept;

    /// The call that the rank is in, for samples and for whoever reads the record of a killed job.
    void entered(std::uint32_t site, std::uint64_t now_us, bool reading) noexcept {
        report::RankHead& head = record().head;
        head.current_site = site;
        head.current_since_us = now_us;
        in_call_since_reading_.store(reading, std::memory_order_relaxed);
    }
    void left(std::uint64_t now_us) noexcept {
        record().head.current_site = report::k_no_site;
        record().head.now_us = now_us;
        in_call_since_reading_.store(false, std::memory_order_relaxed);
    }
    void keep_event(std::uint32_t site, std::uint64_t start_us, std::uint64_t duration_us,
                    std::uint64_t bytes) noexcept;

  private:
    report::RecordFile file_;
    Clock clock_;
    Sites sites_;
    MemoryWatch memory_;
    Requests requests_;
    Communicators communicators_;
    ResidentBuffers resident_buffers_;
    bool threads_ = false;
    std::uint64_t pages_of_call() const noexcept;

    std::atomic<void const*> buffer_{nullptr};
    std::atomic<std::uint64_t> span_{0};
    std::atomic<std::uint64_t> absent_{0};
    std::atomic<bool> in_call_since_reading_{false};
    std::atomic<std::uint64_t> in_flight_{0};
    std::array<std::atomic<std::uint64_t>, report::k_sites> site_in_flight_{};
};

/// Made in MPI_Init, never destroyed before the process ends.
extern Watch* g_watch;

}  // namespace sluice::interpose
