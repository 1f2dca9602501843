// SPDX-License-Identifier: BSD-3-Clause
/// One ledger for all processes of a user whose memory has the same limit: what each may hold, so that together they
/// stay within M_C. In shared memory, found by the name of the limit, without communication.
///
///     header   magic, changes
///     slot 0   held byte lock | claimed | resident | private | node memory | wanting
///     slot 1   …                                                               one a process, k_slots of them
///
/// The kernel keeps a lock (F_OFD_SETLK) on a byte for each slot as long as its process lives; whoever can take it
/// finds that the process has died, however it did, and gives back what it held. A lock on the header's byte is held
/// while somebody comes or goes; the last to go removes the name.
///
/// A claim is made by writing it down, adding all up and taking it back where they exceed the bound: no lock is held,
/// nobody can die or sleep in between and stop the others, and claims never add up to more than the bound.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "sluice/units.hpp"

namespace sluice::budget {

/// Thread-safe. 68 KiB of shared memory a node, whatever the number of its processes. A process beyond k_slots, or one
/// that may not use shared memory, goes without.
class NodeLedger {
  public:
    static constexpr std::size_t k_slots = 1024;

    /// Joins, or makes, the ledger of `identity` (MemoryUsage::identity; letters, digits, - and _). Null where there is
    /// none to be had: then `why` says so. Does not wait for another process for more than a second.
    static std::shared_ptr<NodeLedger> join(std::string const& identity, std::string& why);
    /// Gives back what this process has claimed; the last one removes the ledger.
    ~NodeLedger();
    NodeLedger(NodeLedger const&) = delete;
    NodeLedger& operator=(NodeLedger const&) = delete;

    struct Sums {
        Bytes claimed;
        Bytes resident;
        Bytes claimed_here;      ///< by those with the same node_memory
        Bytes private_memory;    ///< of those
        Bytes private_resident;  ///< what of `private_memory` is `resident`
        std::uint32_t processes = 0;
    };
    /// Of all processes, this one included.
    Sums sums() const noexcept;

    /// What claims are held against: those of all processes, and those of the processes with the same node_memory.
    struct Bounds {
        Bytes all;
        Bytes here{~std::uint64_t{0}};
        Bytes even_share(std::uint32_t processes) const noexcept;
    };
    /// Claims `claim` in place of what this process has claimed, if all claims then are within `bounds`, and if nobody
    /// waits who has less than his even share while this process would have more.
    bool try_claim(Bytes claim, Bounds const& bounds) noexcept;
    /// Claims that much, whatever the bound.
    void claim(Bytes claim) noexcept;
    Bytes claimed() const noexcept;
    /// Says to the others that this process could not claim up to `wanted`; nothing: that it has what it needs.
    void want(Bytes wanted) noexcept;
    /// Whether another process waits that has claimed less than an even share.
    bool others_wait(Bounds const& bounds) const noexcept;
    /// Changes whenever another process may have given something back.
    std::uint64_t changes() const noexcept;

    /// What of the claim is really in memory, and what this process holds altogether, for those of the same
    /// node_memory.
    void tell(Bytes resident, Bytes private_memory, Bytes node_memory) noexcept;
    /// That no more than this is in memory.
    void tell_at_most(Bytes resident) noexcept;

    /// Gives back what processes held that have died; how many there were.
    unsigned reclaim_dead() noexcept;

    /// Which of the slots is this process's.
    std::size_t slot() const noexcept { return slot_; }
    /// Of the shared memory object, for messages and tests.
    std::string const& name() const noexcept { return name_; }

  private:
    struct Slot;
    struct Table;

    NodeLedger(std::string name, int file, Table* table, std::size_t slot);
    static int open_locked(std::string const& name, std::string& why);
    static bool make_table(int file, Table*& table, std::string& why);
    static void remove_if_unused(int file, std::string const& name) noexcept;
    static void remove_left_behind(std::string const& prefix);
    static bool lock(int file, off_t byte) noexcept;
    static bool lock_patiently(int file, off_t byte) noexcept;
    static void unlock(int file, off_t byte) noexcept;
    static off_t byte_of(std::size_t slot) noexcept;
    Slot& mine() const noexcept;
    std::size_t used_slots() const noexcept;
    void changed() noexcept;

    std::string name_;
    int file_;
    Table* table_;
    std::size_t slot_;
    pid_t owner_;
};

}  // namespace sluice::budget
