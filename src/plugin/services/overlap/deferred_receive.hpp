// SPDX-License-Identifier: BSD-3-Clause
/// A receive whose data may come later than its call returns, into pages that were taken aside.
///
///     MPI_Recv    unused ─────────────────────────> moving ─────────> landed ──> unused
///     MPI_Irecv   unused ──> held ──( matched )──> moving ─────────> landed ──> unused, when the program has
///                             │          └───────> in_place ──────────┘          completed its request
///                             └──( MPI gets it )─> in_place
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "kernel/guards/guarded_pages.hpp"
#include "plugin/watch/arrival.hpp"

namespace sluice::plugin {

/// Which messages a receive or a probe accepts.
struct Envelope {
    int source = MPI_PROC_NULL;  ///< or MPI_ANY_SOURCE
    int tag = 0;                 ///< or MPI_ANY_TAG
    MPI_Comm comm = MPI_COMM_NULL;

    /// One message could be accepted by both.
    bool meets(Envelope const& other) const noexcept {
        auto const alike = [](int a, int b, int any) { return a == b || a == any || b == any; };
        return comm == other.comm && alike(source, other.source, MPI_ANY_SOURCE) && alike(tag, other.tag, MPI_ANY_TAG);
    }
};

struct DeferredReceive {
    using Clock = std::chrono::steady_clock;

    enum class Stage : std::uint8_t {
        unused,
        held,      ///< MPI does not have it yet; not matched
        in_place,  ///< MPI fills the buffer itself
        moving,    ///< MPI fills the pages that stand aside
        landed,    ///< the data are in the buffer; the program's thread has yet to count it
    };

    // Changed in the turn only, and by the thread that makes it; a thread without the turn may look at the atomics.
    std::atomic<Stage> stage{Stage::unused};
    /// The program may use the data: a call that waits for them has returned.
    std::atomic<bool> returned{false};
    kernel::Aside pages;
    MPI_Request request = MPI_REQUEST_NULL;
    std::uint32_t site = 0;  ///< of its call
    int source = 0;          ///< in MPI_COMM_WORLD; −1: not known
    std::uint64_t bytes = 0;
    Clock::time_point since{};         ///< from when on its data could come while the program computes
    Clock::time_point landed{};        ///< when its pages were back
    Clock::duration waited{};          ///< of the time since then, what the program spent in MPI's calls that wait
    Clock::duration moving_pages{};    ///< what taking the pages aside and giving them back took
    std::atomic<Clock::rep> needed{};  ///< when the program first waited for its data; 0: it has not

    // Of a blocking receive: what its call has left open in the books.
    Arrival arrival;

    // Of a nonblocking one.
    MPI_Request ticket = MPI_REQUEST_NULL;  ///< the program's handle, until the program has completed or freed it
    std::uint64_t order = 0;                ///< of posting
    Envelope envelope;
    std::byte* buffer = nullptr;
    int count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    std::uint64_t room = 0;  ///< bytes of the buffer
    MPI_Status status{};     ///< once it is matched
    int code = MPI_SUCCESS;
    std::uint64_t* why_in_place = nullptr;  ///< the counter of the reason, if it was matched and not deferred
    bool counted = false;

    bool overlaps(std::uintptr_t from, std::uintptr_t to) const noexcept {
        auto const begin = reinterpret_cast<std::uintptr_t>(pages.pages);
        return from < begin + pages.bytes && begin < to;
    }
    /// A nonblocking one whose bytes go, or may go, into [from, to) without being taken aside.
    bool fills(std::uintptr_t from, std::uintptr_t to) const noexcept {
        auto const begin = reinterpret_cast<std::uintptr_t>(buffer);
        return (is(Stage::held) || is(Stage::in_place)) && from < begin + room && begin < to;
    }
    /// The program waits for it from now on.
    void is_needed(Clock::time_point now) noexcept {
        Clock::rep none = 0;
        needed.compare_exchange_strong(none, now.time_since_epoch().count(), std::memory_order_relaxed);
    }
    bool is(Stage wanted) const noexcept { return stage.load(std::memory_order_acquire) == wanted; }
};

}  // namespace sluice::plugin
