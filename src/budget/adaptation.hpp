// SPDX-License-Identifier: BSD-3-Clause
/// M, M_A and M_C (Y. Shi, G. Zheng, L. V. Kale, 2007, sections 3.2 and 3.3.2), looked at again and again while the
/// program runs: the adaptation that the paper leaves to the future.
///
///     M      the memory there is: a limit, wherever it stands
///     M_A    what programs use of it: usage − what Sluice's leases hold of it
///     M_C    what communication may use for a moment: M − M_A − reserve
///
///     0                                                        M
///     |######### M_A #########|== leases ==|.........|reserve|
///                             |<------- M_C -------->|
///
/// M_C is that of the place that leaves least: of control groups and the machine, which processes share, and of what
/// limits this process alone. What is shared is handed out through the node's ledger: leases of all processes together
/// are at most M_C.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "budget/allowance.hpp"
#include "budget/memory_usage.hpp"
#include "budget/node_ledger.hpp"
#include "budget/usage_events.hpp"
#include "sluice/budget.hpp"

namespace sluice::budget {

/// One for each process. Thread-safe. Allocates only when it is made.
class Adaptation final : public Allowance {
  public:
    struct Options {
        Bytes memory;       ///< setting: of this process; 0: none
        Bytes node_memory;  ///< setting: of all processes of the node that have it; 0: none
        Bytes reserve;      ///< setting memory_reserve; 0: automatic
        /// Of the node, for an even share where there is no ledger.
        std::uint32_t processes = 1;
        bool share = true;  ///< join a ledger
        std::string root;   ///< of a made-up tree
    };
    explicit Adaptation(Options const& options);

    /// What decides now.
    struct Account {
        Bytes m;
        Bytes m_a;
        Bytes reserve;
        Bytes m_c;
        std::string source;           ///< of M
        Bytes leased;                 ///< by all processes of the ledger
        std::uint32_t processes = 1;  ///< in the ledger
        std::string ledger;           ///< its name, or why there is none
    };
    Account account() const;
    /// M_C with a little hysteresis: it shrinks at once and a little more than it must, and grows when there is clearly
    /// more, so that it does not follow every page.
    Bytes m_c() const noexcept { return Bytes{m_c_.load(std::memory_order_relaxed)}; }
    /// The limit of `m_c()` if nothing but Sluice used memory: M − reserve.
    Bytes ceiling() const noexcept { return Bytes{ceiling_.load(std::memory_order_relaxed)}; }

    /// Looks at all places and lets `budget` follow.
    void look(Budget& budget);
    /// The same, at most once a millisecond (once in eight where leases are a small part of 256 MiB or more), or up to
    /// four times as often where the kernel tells that usage has passed a mark; and not where another thread looks
    /// already. True when it has looked.
    bool look_if_due(Budget& budget);
    /// Changes with each look.
    std::uint64_t looks() const noexcept { return looks_.load(std::memory_order_relaxed); }
    /// How often the kernel has told something.
    std::uint64_t tellings() const noexcept { return tellings_.load(std::memory_order_relaxed); }
    bool has_ledger() const noexcept { return ledger_ != nullptr; }

    Bytes extend(Bytes wanted) noexcept override;
    void exceed(Bytes held) noexcept override;
    void shrink(Bytes to) noexcept override;
    void give_back(Bytes resident) noexcept override;

  private:
    struct Figures {
        Bytes m;
        Bytes m_a;
        Bytes reserve;
        Bytes m_c;
    };
    struct Place {
        MemoryUsage usage;
        std::unique_ptr<UsageEvents> events;  // or null
        bool is_below_ledger = false;         // only some processes of the ledger have this limit
        unsigned passed_over = 0;             // looks
        Figures figures;
    };

    void find_places(Options const& options);
    void join_ledger();
    void listen();
    NodeLedger::Sums sums(Bytes resident) const noexcept;
    Bytes reserve_of(MemoryPlace const& place, Bytes m) const noexcept;
    Figures figures_of(Place& place, Bytes resident, NodeLedger::Sums const& sums) const noexcept;
    Figures figures_of_node_memory(Bytes resident, NodeLedger::Sums const& sums) const noexcept;
    void look_at_places(Bytes resident, NodeLedger::Sums const& sums) noexcept;
    void look_locked(Budget& budget);
    bool was_told() noexcept;
    void follow_limits(std::uint64_t between_looks) noexcept;
    NodeLedger::Bounds bounds() const noexcept;
    Bytes kept(Budget& budget, NodeLedger::Sums const& sums);

    Bytes node_memory_;
    Bytes asked_reserve_;
    std::uint32_t processes_;
    std::vector<Place> places_;
    PrivateMemory private_memory_;
    std::shared_ptr<NodeLedger> ledger_;  // or null
    std::string why_;                     // of the ledger, or there is none

    mutable std::mutex mutex_;  // of what follows
    Figures least_{};
    Place const* least_place_ = nullptr;  // null: node_memory, or no limit was found
    NodeLedger::Sums last_sums_;
    std::uint64_t window_end_ = 0;  // of the peaks of what was held, in ns
    Bytes peak_before_;
    Bytes peak_now_;
    std::uint64_t between_asks_ = 0;  // in ns

    std::atomic<std::uint64_t> m_c_{0};
    std::atomic<std::uint64_t> ceiling_{0};
    // What the claims of processes are held against: of all, and of those with the same node_memory.
    std::atomic<std::uint64_t> shared_m_c_{0};
    std::atomic<std::uint64_t> node_m_c_{0};
    std::atomic<std::uint32_t> claimants_{1};
    std::atomic<std::uint64_t> next_look_{0};                 // in ns
    std::atomic<std::uint64_t> next_ask_{~std::uint64_t{0}};  // in ns, whether the kernel has told something
    std::atomic<std::uint64_t> looks_{0};
    std::atomic<std::uint64_t> tellings_{0};
    // A claim that failed is not tried again before something has changed.
    std::atomic<std::uint64_t> failed_wanted_{~std::uint64_t{0}};
    std::atomic<std::uint64_t> failed_changes_{0};
};

/// What `memory_reserve` is when it is 0: M/64, at least 1 MiB and at most 256 MiB.
Bytes automatic_reserve(Bytes m) noexcept;

/// `current` moved to `computed`, with hysteresis.
Bytes steadied(Bytes current, Bytes computed) noexcept;

}  // namespace sluice::budget
