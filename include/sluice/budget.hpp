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
enum class Purpose { staging, bookkeeping, ring, fetched, served, paged, other };

namespace budget {
class Allowance;
}

namespace detail {
struct BudgetState;
}

/// The right to hold that many bytes. Movable; gives them back when it dies.
class SLUICE_API Lease {
  public:
    Lease() = default;
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&& other) noexcept;
    ~Lease();

    Bytes amount() const noexcept { return amount_; }
    Purpose purpose() const noexcept { return purpose_; }
    /// Gives the bytes back now.
    void release() noexcept;
    /// Splits off a lease of `part` bytes, or of all bytes if there are fewer; this lease keeps the rest.
    Lease split(Bytes part) noexcept;

  private:
    friend class Budget;
    Lease(std::shared_ptr<detail::BudgetState> state, Bytes amount, Purpose purpose);
    std::shared_ptr<detail::BudgetState> state_;
    Bytes amount_{};
    Purpose purpose_ = Purpose::other;
};

/// Nobody blocks for ever on a budget: try_lease answers at once, when_free calls back, and while nothing is held a
/// lease of up to the guaranteed minimum always succeeds. Thread-safe. One for each process; see Context::budget(). A
/// copy is the same budget.
///
/// Where the processes of a node share what there is, the limit is M_C, what they may hold together, and whether a
/// lease fits depends on what the others hold.
class SLUICE_API Budget {
  public:
    /// A lease of at most this size succeeds even over the limit while nothing else is held.
    static constexpr Bytes guaranteed_minimum{64 * 1024};

    explicit Budget(Bytes limit);
    /// Makes a budget that holds only what `allowance` grants, up to `limit`. The allowance lives as long as the last
    /// lease.
    Budget(Bytes limit, std::shared_ptr<budget::Allowance> allowance);

    /// Takes a lease of `amount` bytes for `purpose`; returns nothing if it does not fit now.
    std::optional<Lease> try_lease(Bytes amount, Purpose purpose);

    /// Calls `go` with a lease of `amount` bytes as soon as it fits: now, or from the thread that gives bytes back.
    /// Requests are served in order, one after the other, with no lock held. `go` may use the budget; it must not throw
    /// and must not wait for another `go`. Throws Error(out_of_memory) if `amount` can never fit. Bytes that other
    /// processes give back are noticed at the next adapt().
    void when_free(Bytes amount, Purpose purpose, std::function<void(Lease)> go);

    /// Takes a lease whatever the limit, for a request that must be granted so that the program makes progress. Other
    /// requests wait until the bytes held are below the limit again.
    Lease lease_beyond(Bytes amount, Purpose purpose);

    /// Changes the limit. If more is held, no lease is taken away; if more fits now, waiting requests are served.
    void set_limit(Bytes limit);
    /// Changes a limit that follows the free memory and never exceeds `ceiling`: a request up to that size may wait.
    /// Keeps at most `keep` bytes of the allowance's grant, or what is held if that is more.
    void adapt(Bytes limit, Bytes ceiling, Bytes keep);
    /// Returns the most bytes held since the last call.
    Bytes take_recent_peak();
    /// Bytes that may be held without asking the allowance and are not held: memory that is kept for reuse must fit
    /// into them.
    Bytes spare() const;
    /// Counts memory that is mapped for leases or kept for them; called by the code that allocates it.
    void add_resident(Bytes bytes) noexcept;
    void remove_resident(Bytes bytes) noexcept;  ///< call it before the memory goes back to the kernel
    Bytes resident() const noexcept;

    Bytes limit() const noexcept;
    Bytes held() const;
    Bytes held(Purpose purpose) const;
    Bytes peak() const;
    /// Starts a new peak at the bytes held now.
    void reset_peak();

  private:
    std::shared_ptr<detail::BudgetState> state_;
};

/// A limit on this process's memory, and the place where it was found.
struct MemoryLimit {
    Bytes limit;  ///< the limit that leaves the least room
    Bytes
        used;  ///< what the process holds of it now: resident; for RLIMIT_DATA and RLIMIT_AS as the kernel counts them
    std::string source;  ///< "setting", "cgroup v1 …", "no limit found", "RLIMIT_DATA", "MemAvailable", …
};

/// Least of: `setting` (0 = none), the limits up the control-group chain (v1 and v2), RLIMIT_DATA and RLIMIT_AS,
/// and MemAvailable plus own use. Reads files under `root` (tests give a made-up tree).
SLUICE_API MemoryLimit detect_memory_limit(Bytes setting, std::string const& root = "");

}  // namespace sluice
