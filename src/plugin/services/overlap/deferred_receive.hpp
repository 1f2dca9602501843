// SPDX-License-Identifier: BSD-3-Clause
/// A receive whose call has returned, and whose data come later into pages that were taken aside.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "kernel/guards/guarded_pages.hpp"
#include "plugin/watch/arrival.hpp"

namespace sluice::plugin {

struct DeferredReceive {
    using Clock = std::chrono::steady_clock;

    enum class Stage : std::uint8_t {
        unused,
        moving,  ///< MPI fills the pages that stand aside
        landed,  ///< the pages are back; the program's thread has yet to count it
    };

    // Changed in the turn only; a thread without it may look.
    std::atomic<Stage> stage{Stage::unused};
    kernel::Aside pages;
    MPI_Request request = MPI_REQUEST_NULL;
    Arrival arrival;
    std::uint32_t site = 0;  ///< of its call
    int source = 0;          ///< in MPI_COMM_WORLD; −1: not known
    std::uint64_t bytes = 0;
    Clock::time_point returned{};      ///< when its call returned
    Clock::time_point landed{};        ///< when its pages were back
    Clock::duration moving_pages{};    ///< what taking the pages aside and giving them back took
    std::atomic<Clock::rep> needed{};  ///< when the program first waited for its data; 0: it has not

    bool overlaps(std::uintptr_t from, std::uintptr_t to) const noexcept {
        auto const begin = reinterpret_cast<std::uintptr_t>(pages.pages);
        return from < begin + pages.bytes && begin < to;
    }
    /// The program waits for it from now on.
    void is_needed(Clock::time_point now) noexcept {
        Clock::rep none = 0;
        needed.compare_exchange_strong(none, now.time_since_epoch().count(), std::memory_order_relaxed);
    }
};

}  // namespace sluice::plugin
