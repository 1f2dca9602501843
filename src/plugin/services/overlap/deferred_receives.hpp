// SPDX-License-Identifier: BSD-3-Clause
/// The receives of this rank whose data may come after their call has returned, and the thread that completes them
/// while the program computes.
///
///     program's thread    add ──> moving                                   collect <── landed
///     helper thread               moving ── MPI_Test in its turn ── pages back ──────> landed
///     either, if it needs a page: it waits for landed
///
/// A nonblocking receive is held: MPI does not have it yet, and each round asks for its message (MPI_Improbe). The
/// receives that one message could match are matched in the order in which they were posted. A receive or a probe that
/// comes later and that a held one goes before makes them all MPI's own: post_held().
///
/// The helper thread sleeps without a deadline while nothing is under way, and while it stands aside: for a call of MPI
/// that runs without the turn. While something is under way, it tests now and then; a page that a thread waits for
/// wakes it, and then it tests without a pause, for the thread that waits has left its core.
///
/// The number of receives under way is bounded, so nothing here grows with their number.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kernel/guards/guarded_pages.hpp"
#include "plugin/services/overlap/deferred_receive.hpp"
#include "plugin/services/overlap/turn.hpp"
#include "plugin/services/overlap/waiting_time.hpp"

namespace sluice::plugin {

class DeferredReceives {
  public:
    using Clock = DeferredReceive::Clock;
    static constexpr std::size_t k_most = 64;

    class Listener {
      public:
        /// What has become of a receive. On the program's thread, not in the turn.
        virtual void landed(DeferredReceive const& receive) noexcept = 0;
        /// A nonblocking receive has matched a message of `receive.bytes`: takes its pages aside, if it may wait for
        /// them. In the turn, on any thread.
        virtual bool takes_aside(DeferredReceive& receive) noexcept = 0;

      protected:
        ~Listener() = default;
    };

    /// Makes the thread. Throws Error(unsupported). Both must outlive this object.
    DeferredReceives(kernel::GuardedPages& guards, Listener& listener);
    DeferredReceives(DeferredReceives const&) = delete;
    DeferredReceives& operator=(DeferredReceives const&) = delete;
    /// Ends the thread. Nothing may be under way.
    ~DeferredReceives();

    Turn& turn() noexcept { return turn_; }

    // For the program's thread, or for another one that is about to change memory that a receive goes to.

    /// Something is under way or has yet to be counted. One load.
    bool any() const noexcept { return used_.load(std::memory_order_acquire) != 0; }
    /// The helper thread calls no MPI before the program's thread adds a receive, or calls go_on().
    bool is_alone() const noexcept {
        return aside_.load(std::memory_order_relaxed) || moving_.load(std::memory_order_acquire) == 0;
    }
    /// One of these requests stands for a receive that is complete only after rounds of advance().
    bool has_to_complete(MPI_Request const* requests, int n) const noexcept;
    /// A place that nothing uses; null if there is none.
    DeferredReceive* free_place() noexcept;
    /// The same, after completing one that has returned, if need be. Not in the turn.
    DeferredReceive* place();
    /// A blocking receive: its fields are set, and its request is active. In the turn, or while nothing else is under
    /// way.
    void add(DeferredReceive& receive) noexcept;
    /// A nonblocking one: its fields are set, and it has a ticket. The same holds.
    void hold(DeferredReceive& receive) noexcept;
    /// Tells the listener of those that have landed.
    void collect() noexcept;
    /// Waits until those are complete whose pages have bytes in [from, to). Not in the turn.
    void finish(std::uintptr_t from, std::uintptr_t to);
    /// Waits for those that have returned.
    void finish_returned();
    bool overlap(std::uintptr_t from, std::uintptr_t to) const noexcept;

    /// Those that have no pages aside, and have bytes in [from, to).
    bool fill(std::uintptr_t from, std::uintptr_t to) const noexcept {
        return std::any_of(receives_.begin(), receives_.end(), [&](auto const& one) { return one.fills(from, to); });
    }

    /// One message could be accepted by a held receive and by `later`.
    bool holds_for(Envelope const& later) const noexcept;
    /// Gives MPI what is held, in the order of posting. In the turn.
    void post_held();
    /// Asks for the messages of what is held, and tests the others. In the turn.
    void advance();
    /// A call waits for these requests, and may return: those of them that are matched are complete. In the turn.
    void return_matched(MPI_Request const* requests, int n) noexcept;

    /// A call of MPI without the turn follows: nothing is held from now on, and the helper thread does nothing until
    /// go_on(). What has returned is complete. Not in the turn.
    void step_aside();
    void go_on() noexcept;

    WaitingTime& waiting() noexcept { return waiting_; }

    /// Calls `visit` with each that has returned and is under way, for messages at the end of a process that cannot
    /// complete them.
    template <class Visit>
    void each_returned(Visit const& visit) const noexcept {
        for (DeferredReceive const& receive : receives_)
            if (has_returned(receive)) visit(receive);
    }
    /// In a child of fork(), which has no such thread and nothing under way.
    void in_child() noexcept;

  private:
    static void* begin(void* self) noexcept;
    void run() noexcept;
    void work() noexcept;
    bool hear_faults() noexcept;
    void test(DeferredReceive& receive);
    void match(DeferredReceive& receive);
    void post(DeferredReceive& receive);
    bool comes_after_another(DeferredReceive const& receive) const noexcept;
    DeferredReceive* first_held() noexcept;
    void is_under_way(DeferredReceive& receive, DeferredReceive::Stage stage) noexcept;
    bool is_someone_waiting() const noexcept;
    Clock::duration pause() noexcept;
    void finish(DeferredReceive& receive);
    static bool has_returned(DeferredReceive const& receive) noexcept {
        return receive.is(DeferredReceive::Stage::moving) && receive.returned.load(std::memory_order_relaxed);
    }

    kernel::GuardedPages& guards_;
    Listener& listener_;
    Turn turn_;
    std::array<DeferredReceive, k_most> receives_;
    std::atomic<std::uint32_t> used_{0};    // places that are not unused
    std::atomic<std::uint32_t> moving_{0};  // under way: the thread sleeps while this is 0
    std::atomic<bool> aside_{false};        // the thread stands aside
    std::atomic<bool> ends_{false};
    std::uint64_t posted_ = 0;  // nonblocking receives
    WaitingTime waiting_;
    Clock::duration pause_{};             // of the helper thread, between two tests
    std::atomic<double> ns_per_byte_{0};  // of the last large message; 0: not known
    pthread_t thread_{};
    bool has_thread_ = false;
};

}  // namespace sluice::plugin
