// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How many bytes may communication use now? A budget hands out leases; a lease gives its bytes back when it dies.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sluice/units.hpp"

namespace sluice {

/// What the bytes of a lease are for; reports sum by purpose.
enum class Purpose { staging, bookkeeping, ring, fetched, served, paged, other };

namespace budget {
class Allowance;
}

namespace detail {
struct BudgetState;
}

/// The right to hold that many bytes. Movable; gives them back when it dies.
class Lease {
  public:
    Lease() = default;
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&& other) noexcept;
    ~Lease();

    Bytes amount() const noexcept { return amount_; }
    Purpose purpose() const noexcept { return purpose_; }
    /// Gives the bytes back now.
    void release() noexcept;
    /// A lease of `part` bytes of it, at most all; this one keeps the rest.
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
class Budget {
  public:
    /// A lease of at most this many bytes succeeds even over the limit while nothing else is held.
    static constexpr Bytes guaranteed_minimum{64 * 1024};

    explicit Budget(Bytes limit);
    /// May hold only what `allowance` grants, up to `limit`. The allowance lives as long as the last lease.
    Budget(Bytes limit, std::shared_ptr<budget::Allowance> allowance);

    /// A lease, or nothing when `amount` does not fit now.
    std::optional<Lease> try_lease(Bytes amount, Purpose purpose);

    /// Calls `go` with a lease as soon as `amount` fits: now, or from a thread that gives bytes back. In order of
    /// asking, one at a time, with no lock held: `go` may use the budget; it must not throw and must not wait for
    /// another `go`. Throws Error(out_of_memory) where `amount` can never fit. Where others share the memory, bytes
    /// that they give back are noticed at the next adapt().
    void when_free(Bytes amount, Purpose purpose, std::function<void(Lease)> go);

    /// A lease whatever the limit: for the one that must be granted so that anything moves. Others wait until what is
    /// held is below the limit again.
    Lease lease_beyond(Bytes amount, Purpose purpose);

    /// From now on. Where more is held nothing is taken away; where more fits now, those who wait are served.
    void set_limit(Bytes limit);
    /// The same for a limit that follows the memory that is free, and never exceeds `ceiling`: what fits below that may
    /// be waited for. Of what the allowance has granted and nobody holds now, no more than `keep` in all is kept.
    void adapt(Bytes limit, Bytes ceiling, Bytes keep);
    /// The most that was held since the last call.
    Bytes take_recent_peak();
    /// What may be held without asking the allowance, and is not: memory that is kept for later must fit into it.
    Bytes spare() const;
    /// Memory that is really there for leases, or kept for them: counted by who allocates it.
    void add_resident(Bytes bytes) noexcept;
    void remove_resident(Bytes bytes) noexcept;  ///< before it goes back to the kernel
    Bytes resident() const noexcept;

    Bytes limit() const noexcept;
    Bytes held() const;
    Bytes held(Purpose purpose) const;
    Bytes peak() const;
    /// Starts a new peak at what is held now.
    void reset_peak();

  private:
    std::shared_ptr<detail::BudgetState> state_;
};

/// A limit on this process's memory, and where it was found.
struct MemoryLimit {
    Bytes limit;  ///< of all that apply the one that leaves least room
    Bytes
        used;  ///< what the process holds of it now: resident; for RLIMIT_DATA and RLIMIT_AS as the kernel counts them
    std::string source;  ///< "setting", "cgroup v1 …", "no limit found", "RLIMIT_DATA", "MemAvailable", …
};

/// Least of: `setting` (0 = none), the limits up the control-group chain (v1 and v2), RLIMIT_DATA and RLIMIT_AS,
/// and MemAvailable plus own use. Reads files under `root` (tests give a made-up tree).
MemoryLimit detect_memory_limit(Bytes setting, std::string const& root = "");

}  // namespace sluice
