// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How many bytes communication may use now. A budget hands out leases; a lease gives its bytes back when it is
/// destroyed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sluice/export.h"
#include "sluice/units.hpp"

namespace sluice {

/// The use of a lease's bytes; reports sum by purpose.
enum class Purpose {
    staging,      ///< buffers of messages and of redistribution
    bookkeeping,  ///< tables and lists
    ring,         ///< this rank's part of the rings of the node
    fetched,      ///< data that were fetched from other ranks
    served,       ///< data that are packed for readers
    paged,        ///< blocks of paged files
    other,        ///< everything else, for example what a program leases
    registered,   ///< memory of the program that is pinned for network adapters
};

class Budget;

namespace kernel {
class Keeper;
}

namespace budget {
class Allowance;
void add_keeper(Budget const& budget, std::weak_ptr<kernel::Keeper> keeper);
}  // namespace budget

namespace detail {
struct BudgetState;
}

/// The right to hold a number of bytes. Movable; gives them back when it dies. A lease belongs to one thread at once.
class SLUICE_API Lease {
  public:
    Lease() = default;
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&& other) noexcept;
    ~Lease();

    /// The bytes that may be held; 0 for a lease that was moved from or released.
    Bytes amount() const noexcept { return amount_; }
    /// What they are for.
    Purpose purpose() const noexcept { return purpose_; }
    /// Gives the bytes back now; requests that wait for them may be called back by this thread.
    void release() noexcept;
    /// Splits off a part; this lease keeps the rest.
    /// @param part bytes of the new lease; all bytes if there are fewer
    /// @return a lease for the same purpose
    Lease split(Bytes part) noexcept;

  private:
    friend class Budget;
    Lease(std::shared_ptr<detail::BudgetState> state, Bytes amount, Purpose purpose);
    std::shared_ptr<detail::BudgetState> state_;
    Bytes amount_{};
    Purpose purpose_ = Purpose::other;
};

/// The bytes that communication of this process may hold. No thread blocks for ever on a budget: try_lease answers at
/// once, when_free calls back, and while nothing is held a lease of up to the guaranteed minimum always succeeds.
/// All members are thread-safe. A process has one; see Context::budget(). A copy is the same budget. Memory: a few
/// words, and for each request that waits its function.
///
/// If the processes of a node share their memory, the limit is M_C, the bytes that they may hold together, and whether
/// a lease fits depends on what the other processes hold.
class SLUICE_API Budget {
  public:
    /// A lease of at most this size succeeds even over the limit while nothing else is held.
    static constexpr Bytes guaranteed_minimum{64 * 1024};

    /// Makes a budget of its own, which no other process shares.
    /// @param limit the most bytes that may be held
    explicit Budget(Bytes limit);
    /// A copy, also of a budget that is moved, is the same budget: no Budget is ever without one.
    Budget(Budget const&) = default;
    Budget& operator=(Budget const&) = default;
    /// Makes a budget that holds only what an allowance grants.
    /// @param limit     the most bytes that may be held
    /// @param allowance grants bytes of the node; it lives as long as the last lease
    Budget(Bytes limit, std::shared_ptr<budget::Allowance> allowance);

    /// Takes a lease if it fits now.
    /// @param amount  bytes
    /// @param purpose what they are for
    /// @return the lease, or nothing
    std::optional<Lease> try_lease(Bytes amount, Purpose purpose);

    /// Takes a lease as soon as it fits. Requests are served in order, one after the other, with no lock held. Bytes
    /// that other processes give back are noticed at the next adapt().
    /// @param amount  bytes
    /// @param purpose what they are for
    /// @param go      is called with the lease: inside this function, or by the thread that gives bytes back. It must
    ///                not throw and must not wait for another `go`; it may use the budget.
    /// @throws Error out_of_memory if `amount` can never fit; invalid_argument for an empty function
    void when_free(Bytes amount, Purpose purpose, std::function<void(Lease)> go);

    /// Takes a lease whatever the limit, for a request that must be granted so that the program makes progress. Other
    /// requests wait until the bytes held are below the limit again.
    /// @param amount  bytes
    /// @param purpose what they are for
    Lease lease_beyond(Bytes amount, Purpose purpose);

    /// Changes the limit. If more is held, no lease is taken away; if more fits now, waiting requests are served.
    /// @param limit the most bytes that may be held from now on
    void set_limit(Bytes limit);
    /// Changes a limit that follows the free memory.
    /// @param limit   the most bytes that may be held from now on
    /// @param ceiling the most that the limit can become; a request up to that size may wait
    /// @param keep    how many bytes of the allowance's grant to keep, or what is held if that is more
    void adapt(Bytes limit, Bytes ceiling, Bytes keep);
    /// Returns the most bytes held since the last call.
    Bytes take_recent_peak();
    /// Bytes that may be held without asking the allowance and are not held: memory that is kept for reuse must fit
    /// into them.
    Bytes spare() const;
    /// Counts memory that is mapped for leases or kept for them; called by the code that allocates it.
    /// @param bytes the bytes that were mapped
    void add_resident(Bytes bytes) noexcept;
    /// Counts such memory no longer; called before it goes back to the kernel.
    /// @param bytes the bytes that will be unmapped
    void remove_resident(Bytes bytes) noexcept;
    /// The bytes that are mapped for leases or kept for them now.
    Bytes resident() const noexcept;

    /// The most bytes that may be held now.
    Bytes limit() const noexcept;
    /// The bytes of all leases.
    Bytes held() const;
    /// The bytes of the leases for one purpose.
    /// @param purpose which leases count
    Bytes held(Purpose purpose) const;
    /// The most bytes held at once since the beginning or the last reset_peak().
    Bytes peak() const;
    /// Starts a new peak at the bytes held now.
    void reset_peak();
    /// Whether a function of when_free() has not been called yet, or is being called.
    bool is_waited_for() const;

  private:
    friend void budget::add_keeper(Budget const& budget, std::weak_ptr<kernel::Keeper> keeper);
    std::shared_ptr<detail::BudgetState> state_;
};

/// A limit on this process's memory, and the place where it was found.
struct MemoryLimit {
    Bytes limit;  ///< the limit that leaves the least room
    Bytes
        used;  ///< what the process holds of it now: resident; for RLIMIT_DATA and RLIMIT_AS as the kernel counts them
    std::string source;  ///< "setting", "cgroup v1 …", "no limit found", "RLIMIT_DATA", "MemAvailable", …
};

/// Finds the limit that leaves this process the least room: that of the setting, those up the control-group chain (v1
/// and v2), RLIMIT_DATA and RLIMIT_AS, and MemAvailable plus own use.
/// @param setting a limit that the user has set; 0 for none
/// @param root    the folder that the files of the kernel are read under; "" for the real ones
/// @return the limit, the use and the place where the limit was found; never throws for files that are missing
SLUICE_API MemoryLimit detect_memory_limit(Bytes setting, std::string const& root = "");

}  // namespace sluice
