/// How many bytes may communication use now? A budget hands out leases; a lease gives its bytes back when it dies.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sluice/units.hpp"

namespace sluice {

/// What the bytes of a lease are for; reports sum by purpose.
enum class Purpose { staging, bookkeeping, ring, fetched, served, other };

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
/// lease of up to the guaranteed minimum always succeeds. Thread-safe. One for each process; see Context::budget().
class Budget {
  public:
    /// A lease of at most this many bytes succeeds even over the limit while nothing else is held.
    static constexpr Bytes guaranteed_minimum{64 * 1024};

    explicit Budget(Bytes limit);

    /// A lease, or nothing when `amount` does not fit now.
    std::optional<Lease> try_lease(Bytes amount, Purpose purpose);

    /// Calls `go` with a lease as soon as `amount` fits: now, or from a thread that gives bytes back. In order of
    /// asking, one at a time, with no lock held: `go` may use the budget; it must not throw and must not wait for
    /// another `go`. Throws Error(out_of_memory) where `amount` can never fit.
    void when_free(Bytes amount, Purpose purpose, std::function<void(Lease)> go);

    /// A lease whatever the limit: for the one that must be granted so that anything moves. Others wait until what is
    /// held is below the limit again.
    Lease lease_beyond(Bytes amount, Purpose purpose);

    /// From now on. Where more is held nothing is taken away; where more fits now, those who wait are served.
    void set_limit(Bytes limit);
    Bytes limit() const;
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
