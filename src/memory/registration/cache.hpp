// SPDX-License-Identifier: BSD-3-Clause
/// The registered regions of a process, with reference counts and their part of the budget.
///
///     begin_use: not there              begin_use                 give_back, no use
///     warm            ───────> ready ──────────────> in use       ready ────────────> leaving ──> (free)
///                                 ^──── end_use ──────┘             forget: leaves the index at once
///
/// A region serves every range inside it. The main thread never waits for the helper: what is not ready, it registers
/// by itself, also if the helper is just registering or giving back the same range. No lock is held while a registrar
/// works.
///
/// Bytes are leased for Purpose::registered before they are pinned. If the limit is reached, the region that is due
/// last goes; if all are in use, a message is registered beyond the limit and given back when it is complete. A limit
/// therefore slows down and does not fail. What fails is what the registrar refuses: the caller then uses its own path.
///
/// Allocates in the constructor alone, under a lease for bookkeeping.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "memory/leased.hpp"
#include "memory/registration/registrar.hpp"
#include "sluice/budget.hpp"

namespace sluice::memory::registration {

constexpr Time k_never = Time::max();

/// What a message holds while it uses a region. Given back by Cache::end_use() exactly once.
struct Use {
    enum class Outcome : std::uint8_t {
        found,       ///< the region was registered
        registered,  ///< the calling thread has registered it
        refused      ///< no region: `failure` says why, and the message goes its own way
    };
    Outcome outcome = Outcome::refused;
    Failure failure = Failure::none;
    std::uint32_t slot = 0;
    std::uint64_t key = 0;  ///< the registrar's name of the registration
    Time cost{};            ///< what the calling thread spent on registering and making room
};

/// What the cache did. Relaxed numbers that any thread reads.
struct CacheCounters {
    std::atomic<std::uint64_t> found{0};
    std::atomic<std::uint64_t> registered_by_main{0};
    std::atomic<std::uint64_t> removed_by_main{0};  ///< to make room
    std::atomic<std::uint64_t> registered_ahead{0};
    std::atomic<std::uint64_t> given_back{0};
    std::atomic<std::uint64_t> forgotten{0};  ///< regions whose memory was unmapped or remapped
    std::atomic<std::uint64_t> beyond_limit{0};
    std::atomic<std::uint64_t> refused{0};
};

/// What happens to unused regions when the main thread registers a range.
enum class Policy : std::uint8_t {
    spare,  ///< those inside the range go, for pinned twice their pages count twice; and those that were
            ///< registered ahead and not used, before the peak is raised
    keep    ///< they stay, as in Open MPI's own cache; for comparison
};

class Cache {
  public:
    static constexpr std::uint32_t k_most_regions = 1024;

    /// All outlive the cache. `pinned` has as its limit the most that may be pinned (pinned_limit()); `tables` grants
    /// what the cache itself needs.
    Cache(Registrar& registrar, Budget const& pinned, Budget const& tables, Policy policy = Policy::spare);
    Cache(Cache const&) = delete;
    Cache& operator=(Cache const&) = delete;
    /// Gives back all regions; no use is open.
    ~Cache();

    // The main thread.
    Use begin_use(Range range) noexcept;
    /// True if this was the last use: the helper should be told (What::ends).
    bool end_use(Use const& use) noexcept;

    // Any thread: the memory is unmapped, remapped or emptied. No later use finds a region that overlaps it.
    void forget(Range range) noexcept;

    // The helper.
    struct Done {
        bool done = false;
        Failure failure = Failure::none;
        Time cost{};
    };
    /// Registers ahead. Does nothing if a region has the range; makes room only of regions whose next use is after
    /// `needed`, or is not known.
    Done warm(Range range, Time needed) noexcept;
    /// Gives back the region that region_of(range) names, if there is one and it is not in use.
    Done give_back(Range range) noexcept;
    /// Gives back one region inside the range that is not in use: a registration of the whole range serves as well.
    Done give_back_inside(Range range) noexcept;
    /// Gives back all regions that are not in use.
    void give_back_unused() noexcept;
    /// Gives back one region that nothing will use again: forgotten, or unused without a known next use.
    Done give_back_stray() noexcept;
    /// When the region that has the range is used next, as far as is known; k_never: not known. Regions are judged by
    /// it when room is made. Starts at k_never with each registration.
    void set_next_use(Range range, Time next) noexcept;

    struct Found {
        Range range;
        std::uint32_t uses;
    };
    /// A region that has the whole range.
    std::optional<Found> region_of(Range range) const noexcept;
    /// Whether a message uses a region inside the range.
    bool is_used_inside(Range range) const noexcept;
    /// The next region, from this place on, that can be found and is not in use; moves the place on.
    std::optional<Range> next_unused(std::uint32_t& place) const noexcept;
    /// How many forgotten regions are still registered.
    std::uint32_t strays() const noexcept { return strays_.load(std::memory_order_relaxed); }

    Bytes pinned() const noexcept { return {pinned_.load(std::memory_order_relaxed)}; }
    /// The most that was pinned at once.
    Bytes peak() const noexcept { return {peak_.load(std::memory_order_relaxed)}; }
    Bytes limit() const noexcept { return budget_.limit(); }
    CacheCounters const& counters() const noexcept { return counters_; }

  private:
    enum class State : std::uint8_t { free, registering, ready, forgotten, leaving };
    struct Region {
        Range range;
        std::uint64_t key = 0;
        Time next_use = k_never;
        std::uint32_t uses = 0;
        State state = State::free;
        bool is_registered = false;
        bool is_ahead = false;  // registered by the helper, and not used since
        Lease lease;
    };
    class Lock {
      public:
        void lock() noexcept;
        void unlock() noexcept { held_.clear(std::memory_order_release); }

      private:
        std::atomic_flag held_ = ATOMIC_FLAG_INIT;
    };
    static constexpr std::uint32_t k_none = ~std::uint32_t{0};

    // Under the lock.
    std::uint32_t find(Range range) const noexcept;
    std::uint32_t take_slot(Range range, Lease&& lease) noexcept;
    void publish(std::uint32_t slot) noexcept;
    void hide(std::uint32_t slot) noexcept;
    std::uint32_t last_due(Time after, bool only_ahead) noexcept;
    std::uint32_t leave(std::uint32_t slot) noexcept;
    Done remove_one(std::uint32_t slot) noexcept;

    std::uint32_t room_for(Range range, Time after, bool must, Time& cost) noexcept;
    void keep_peak(Range range, Time& cost) noexcept;
    Registered register_slot(std::uint32_t slot, std::uint32_t uses) noexcept;
    Time remove_slot(std::uint32_t slot) noexcept;
    void free_slot(std::uint32_t slot) noexcept;
    void count_pinned(std::uint64_t bytes) noexcept;

    Registrar* registrar_;
    Budget budget_;
    Policy policy_;
    mutable Lock lock_;
    LeasedVector<Region> regions_;
    LeasedVector<std::uint32_t> index_;  // slots of regions that can be found, by their begin
    LeasedVector<std::uint32_t> free_;
    std::uint32_t found_by_ = 0;
    std::uint64_t longest_ = 0;  // of a region in the index, since it was last empty
    std::atomic<std::uint32_t> strays_{0};
    std::atomic<std::uint64_t> pinned_{0};
    std::atomic<std::uint64_t> peak_{0};
    CacheCounters counters_;
};

/// The most that this process may pin: the setting, or without one (0) RLIMIT_MEMLOCK if it binds this process; the
/// smaller of both if there are both. All bytes of the address space if there is neither.
Bytes pinned_limit(Bytes setting);

}  // namespace sluice::memory::registration
