// SPDX-License-Identifier: BSD-3-Clause
/// Measures M, M_A and M_C (Y. Shi, G. Zheng, L. V. Kale, 2007, sections 3.2 and 3.3.2) again and again while the
/// program runs. The paper leaves this adaptation to future work.
///
///     M      the memory that may be used: the limit in force
///     M_A    the part of M that programs use: usage − the bytes that Sluice's leases hold
///     M_C    what communication may use for a moment: M − M_A − reserve
///
///     0                                                        M
///     |######### M_A #########|== leases ==|.........|reserve|
///                             |<------- M_C -------->|
///
/// M_C is computed for each place that limits memory (control groups and the machine, which processes share, and the
/// limits of this process alone), and the smallest counts. Shared memory is handed out through the node's ledger: the
/// leases of all processes together are at most M_C.
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

/// A process has one Adaptation. Thread-safe. Only the constructor allocates.
class Adaptation final : public Allowance {
  public:
    struct Options {
        Bytes memory;       ///< limit of this process by the setting `memory`; 0: none
        Bytes node_memory;  ///< limit of all processes of the node with this setting; 0: none
        Bytes reserve;      ///< setting memory_reserve; 0: automatic
        /// Processes of the node, used for an even share if there is no ledger.
        std::uint32_t processes = 1;
        bool share = true;  ///< whether to join a ledger
        std::string root;   ///< root of a made-up file tree, for tests
        /// With Files::opened the kernel is not asked for threshold events either, which need descriptors that stay.
        Files files = Files::kept;
        /// The rank's, which sets marks for threshold events; one is made if it is null.
        std::shared_ptr<kernel::HelperThread> helper_thread = nullptr;
    };
    explicit Adaptation(Options const& options);

    /// The figures that are in force.
    struct Account {
        Bytes m;
        Bytes m_a;
        Bytes reserve;
        Bytes m_c;
        std::string source;           ///< the place that M comes from
        Bytes leased;                 ///< bytes leased by all processes of the ledger
        std::uint32_t processes = 1;  ///< processes in the ledger
        std::string ledger;           ///< name of the ledger, or the reason why there is none
    };
    Account account() const;
    /// Returns the bytes that all processes of the ledger had claimed at the last look; 0 without a ledger.
    Bytes claimed() const;
    /// Returns M_C with hysteresis, so that the limit does not follow every page: it shrinks at once and by a little
    /// more than necessary, and grows only if there is clearly more.
    Bytes m_c() const noexcept { return Bytes{m_c_.load(std::memory_order_relaxed)}; }
    /// The limit of `m_c()` if nothing but Sluice used memory: M − reserve.
    Bytes ceiling() const noexcept { return Bytes{ceiling_.load(std::memory_order_relaxed)}; }

    /// Looks at all places and adjusts the limit of `budget`.
    void look(Budget& budget);
    /// Looks if a look is due: at most once a millisecond, or once in eight milliseconds if leases are a small part of
    /// 256 MiB or more, and up to four times as often if the kernel signals that usage has passed a mark. Does nothing
    /// if another thread is looking. Returns true if it has looked.
    bool look_if_due(Budget& budget);
    /// Number of looks so far.
    std::uint64_t looks() const noexcept { return looks_.load(std::memory_order_relaxed); }
    /// Number of signals from the kernel so far.
    std::uint64_t tellings() const noexcept { return tellings_.load(std::memory_order_relaxed); }
    bool has_ledger() const noexcept { return ledger_ != nullptr; }
    /// Gives back what this process has claimed in the ledger, and needs the helper thread no more, for a process that
    /// holds leases until it ends. No other thread may use the budget then.
    void leave_ledger();

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
        std::unique_ptr<UsageEvents> events;  // null if this place cannot signal
        bool is_below_ledger = false;         // only some processes of the ledger have this limit
        unsigned passed_over = 0;             // looks since it was last read
        Figures figures;
    };

    void find_places(Options const& options, UsageFiles& files);
    void join_ledger();
    void listen(std::shared_ptr<kernel::HelperThread> const& helper_thread);
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
    std::unique_ptr<PrivateMemory const> private_memory_;  // null without node_memory
    std::shared_ptr<NodeLedger> ledger_;                   // null if there is none
    std::string why_;                                      // why there is no ledger, or its name

    mutable std::mutex mutex_;  // guards the following members
    Figures least_{};
    Place const* least_place_ = nullptr;  // null if node_memory decides or no limit was found
    NodeLedger::Sums last_sums_;
    std::uint64_t window_end_ = 0;  // in ns; the peaks of the held bytes are reset then
    Bytes peak_before_;
    Bytes peak_now_;
    std::uint64_t between_asks_ = 0;  // in ns

    std::atomic<std::uint64_t> m_c_{0};
    std::atomic<std::uint64_t> ceiling_{0};
    // The bounds for claims: of all processes, and of those with the same node_memory.
    std::atomic<std::uint64_t> shared_m_c_{0};
    std::atomic<std::uint64_t> node_m_c_{0};
    std::atomic<std::uint32_t> claimants_{1};
    std::atomic<std::uint64_t> next_look_{0};                 // in ns
    std::atomic<std::uint64_t> next_ask_{~std::uint64_t{0}};  // in ns; when to ask for signals of the kernel again
    std::atomic<std::uint64_t> looks_{0};
    std::atomic<std::uint64_t> tellings_{0};
    // The size of a refused claim, which is not repeated before something has changed.
    std::atomic<std::uint64_t> failed_wanted_{~std::uint64_t{0}};
    std::atomic<std::uint64_t> failed_changes_{0};
};

/// The reserve used if the setting `memory_reserve` is 0: M/64, at least 1 MiB and at most 256 MiB.
Bytes automatic_reserve(Bytes m) noexcept;

/// Returns the next M_C when `current` is in force and `computed` was measured, with hysteresis.
Bytes steadied(Bytes current, Bytes computed) noexcept;

}  // namespace sluice::budget
