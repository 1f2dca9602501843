// SPDX-License-Identifier: BSD-3-Clause
/// The receives of this rank that have returned before their data came, and the thread that completes them while the
/// program computes.
///
///     program's thread    add ──> moving                                   collect <── landed
///     helper thread               moving ── MPI_Test in its turn ── pages back ──────> landed
///     either, if it needs a page: it waits for landed
///
/// The helper thread sleeps without a deadline while nothing is moving. While something is, it tests now and then; a
/// page that a thread waits for wakes it, and then it tests without a pause, for the thread that waits has left its
/// core.
///
/// The number of receives under way is bounded, so nothing here grows with their number.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kernel/guards/guarded_pages.hpp"
#include "plugin/services/overlap/deferred_receive.hpp"
#include "plugin/services/overlap/turn.hpp"

namespace sluice::plugin {

class DeferredReceives {
  public:
    using Clock = DeferredReceive::Clock;
    static constexpr std::size_t k_most = 64;

    /// What becomes of a receive, on the program's thread.
    class Listener {
      public:
        virtual void landed(DeferredReceive const& receive) noexcept = 0;

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
    /// A place for one more; completes another if there is none. Not in the turn.
    DeferredReceive& place() noexcept;
    /// Its fields are set, and its request is active. In the turn, or while nothing else is under way.
    void add(DeferredReceive& receive) noexcept;
    /// Tells the listener of those that have landed.
    void collect() noexcept;
    /// Waits until those are complete whose pages have bytes in [from, to). Not in the turn.
    void finish(std::uintptr_t from, std::uintptr_t to) noexcept;
    void finish_all() noexcept { finish(0, UINTPTR_MAX); }
    bool overlap(std::uintptr_t from, std::uintptr_t to) const noexcept;

    /// Calls `visit` with each that is under way, for messages at the end of a process that cannot complete them.
    template <class Visit>
    void each(Visit const& visit) const noexcept {
        for (DeferredReceive const& receive : receives_)
            if (receive.stage.load(std::memory_order_acquire) == DeferredReceive::Stage::moving) visit(receive);
    }
    /// In a child of fork(), which has no such thread and nothing under way.
    void in_child() noexcept;

  private:
    static void* begin(void* self) noexcept;
    void run() noexcept;
    void work() noexcept;
    bool hear_faults() noexcept;
    void test_all() noexcept;
    void test(DeferredReceive& receive) noexcept;
    bool is_someone_waiting() const noexcept;
    Clock::duration pause() noexcept;
    void finish(DeferredReceive& receive) noexcept;

    kernel::GuardedPages& guards_;
    Listener& listener_;
    Turn turn_;
    std::array<DeferredReceive, k_most> receives_;
    std::atomic<std::uint32_t> used_{0};    // places that are not unused
    std::atomic<std::uint32_t> moving_{0};  // the thread sleeps while this is 0
    std::atomic<bool> ends_{false};
    Clock::duration pause_{};             // of the helper thread, between two tests
    std::atomic<double> ns_per_byte_{0};  // of the last large message; 0: not known
    pthread_t thread_{};
    bool has_thread_ = false;
};

}  // namespace sluice::plugin
