// SPDX-License-Identifier: BSD-3-Clause
/// One ledger for all processes of a user whose memory has the same limit: it says how much each may hold, so that
/// together they stay within M_C. It lies in shared memory and is found by the name of the limit, without
/// communication.
///
///     header   magic, changes
///     slot 0   held byte lock | process, machine | claimed | resident | private | node memory | wanting
///     slot 1   …                                                               one for each process, k_slots of them
///
/// The kernel keeps a lock (F_OFD_SETLK) on a byte for each slot as long as its process lives. The lock belongs to the
/// open file, which lives as long as it is mapped, so no descriptor is kept. A process that can take the lock knows
/// that the owner has died, however it died, and gives back what the owner held. A child of fork() shares its parent's
/// lock and keeps it if the parent is killed; then the number of the owner's process, which no process of this machine
/// has any more, says the same. A process holds the lock on the header's byte while it joins or leaves; the last one to
/// leave removes the name.
///
/// A process claims by writing its claim down, adding up all claims, and taking its claim back if the sum exceeds the
/// bound. No lock is held, so a process that dies or sleeps in between does not stop the others, and granted claims
/// never add up to more than the bound.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "kernel/files/folder.hpp"
#include "sluice/units.hpp"

namespace sluice::budget {

/// Thread-safe. Takes 68 KiB of shared memory on each node, however many processes there are. A process beyond k_slots,
/// or one that may not use shared memory, runs without a ledger.
class NodeLedger {
  public:
    static constexpr std::size_t k_slots = 1024;

    /// Joins or makes the ledger of `identity` (MemoryUsage::identity; letters, digits, - and _). Returns null if that
    /// fails, with the reason in `why`. Waits at most a second for another process.
    static std::shared_ptr<NodeLedger> join(std::string const& identity, std::string& why);
    /// Gives back what this process has claimed; the last process removes the ledger.
    ~NodeLedger();
    NodeLedger(NodeLedger const&) = delete;
    NodeLedger& operator=(NodeLedger const&) = delete;

    struct Sums {
        Bytes claimed;
        Bytes resident;
        Bytes claimed_here;      ///< by processes with the same node_memory
        Bytes private_memory;    ///< private memory of the same processes
        Bytes private_resident;  ///< the part of `private_memory` that is in `resident`
        std::uint32_t processes = 0;
    };
    /// Sums over all processes, including this one.
    Sums sums() const noexcept;

    /// The bounds for claims: of all processes, and of the processes with the same node_memory.
    struct Bounds {
        Bytes all;
        Bytes here{~std::uint64_t{0}};
        Bytes even_share(std::uint32_t processes) const noexcept;
    };
    /// Replaces this process's claim by `claim` if all claims then are within `bounds`. Fails if another process with
    /// less than its even share is waiting and this one would hold more than its own.
    bool try_claim(Bytes claim, Bounds const& bounds) noexcept;
    /// Replaces this process's claim by `claim`, whatever the bound.
    void claim(Bytes claim) noexcept;
    Bytes claimed() const noexcept;
    /// Tells the other processes that this one could not claim up to `wanted`; zero bytes mean that it has what it
    /// needs.
    void want(Bytes wanted) noexcept;
    /// Whether another process waits that has claimed less than an even share.
    bool others_wait(Bounds const& bounds) const noexcept;
    /// Returns a number that changes whenever another process may have given something back.
    std::uint64_t changes() const noexcept;

    /// Publishes the resident part of the claim and the private memory of this process, for the processes with the same
    /// node_memory.
    void tell(Bytes resident, Bytes private_memory, Bytes node_memory) noexcept;
    /// Lowers the resident figure that tell() published; call it before returning memory to the kernel.
    void tell_at_most(Bytes resident) noexcept;

    /// Gives back the claims of processes that have died; returns how many there were. Opens the ledger for a moment;
    /// does nothing if it cannot be opened.
    unsigned reclaim_dead() noexcept;

    /// The index of this process's slot.
    std::size_t slot() const noexcept { return slot_; }
    /// The name of the shared memory object, for messages and tests.
    std::string const& name() const noexcept { return name_; }

  private:
    struct Slot;
    struct Table;

    NodeLedger(std::string name, struct stat const& status, Table* table, std::size_t slot);
    static std::string find_name(kernel::Folder const& memory, std::string const& first, std::string& why);
    static kernel::Opened open_locked(kernel::Folder const& memory, std::string const& name, std::string& why);
    static bool make_table(int file, Table*& table, std::string& why);
    static bool is_unlocked(int file, off_t first, off_t number) noexcept;
    static void remove_left_behind(kernel::Folder const& memory, std::string const& prefix);
    static bool lock(int file, off_t byte) noexcept;
    static bool lock_patiently(int file, off_t byte) noexcept;
    static void unlock(int file, off_t byte) noexcept;
    static off_t byte_of(std::size_t slot) noexcept;
    kernel::Descriptor open_again() const noexcept;
    bool bury_parent(int file, Slot& slot) noexcept;
    bool is_used_by_others(int file) const noexcept;
    Slot& mine() const noexcept;
    std::size_t used_slots() const noexcept;
    void changed() noexcept;

    std::string name_;
    std::string path_;    // made once, because looks allocate nothing
    struct stat status_;  // of the file
    Table* table_;
    std::size_t slot_;
    pid_t owner_;
    std::uint64_t machine_;
};

}  // namespace sluice::budget
