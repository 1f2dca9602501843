// SPDX-License-Identifier: BSD-3-Clause
/// The one door to a peer's memory: finds out whether this process may touch it, and touches it with single copies.
///
///     peer                              this process
///     card()   ─── in any message ───>  reach(peer, card)      its nonce is read, and written back: remembered
///                                            │ Remote
///     address  ─── in any message ───>  remote.at(address)     read, read_pieces, write, swap
///                                            │ fewer bytes than asked for
///                                       refuse(peer)           remembered; the caller goes on by messages
///
/// Callers keep their protocols: how an address reaches a rank, when it is good, and how its owner learns that it is
/// not used any more. No other code of the library or the plugin touches another process's memory
/// (cmake/check_rooms.py).
///
/// The one way that exists is process memory: process_vm_readv and process_vm_writev inside a node. Its key is 0. A way
/// over registered memory (verbs, UCX) stands behind the same types. Its cards carry the key of a registration, reach()
/// makes the connection, unpacks the key and proves it by the same nonce, Remote::key() is the unpacked key, and
/// Remote's functions choose the way by it. They return when the bytes are there, or report fewer, so the callers stay
/// as they are. Until such a way is built, a card with a key is refused (docs/decisions/0077).
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

namespace sluice::node {

/// What a peer must know to reach this process's memory. It is sent in messages byte for byte.
struct AccessCard {
    std::uint64_t node = 0;  ///< equal for processes that see each other's process numbers; 0: not known
    std::uint64_t nonce = 0;
    std::uint64_t nonce_address = 0;
    std::int64_t pid = 0;   ///< 0: no access
    std::uint64_t key = 0;  ///< of a registration; 0: process memory
};

/// What a process is going to do with a peer's memory.
enum class Touch : std::uint8_t { read, write };  // write: reads and swaps, too

/// A place in the memory of a peer that has been reached. Only RemoteMemory::reach() makes one; copies are free. Its
/// functions take no lock and allocate nothing.
class Remote {
  public:
    /// Nowhere: 0 bytes are read and written there.
    Remote() = default;
    explicit operator bool() const noexcept { return pid_ != 0; }

    /// The place at this address of the same peer.
    Remote at(std::uint64_t address) const noexcept {
        Remote place = *this;
        place.address_ = address;
        return place;
    }
    std::uint64_t address() const noexcept { return address_; }
    std::uint64_t key() const noexcept { return key_; }

    /// Returns the number of bytes read from the front; fewer than `to.size()` if the kernel refuses or the memory is
    /// not mapped. The content of the rest of `to` is then unspecified.
    std::size_t read(std::span<std::byte> to) const noexcept;
    /// Reads `theirs` into `ours` (equal total lengths, any numbers of pieces). The pieces of `theirs` have addresses
    /// in the peer's process; where this place is does not matter. Both lists are used up. Returns false if not all
    /// could be read; the content of `ours` is then unspecified.
    bool read_pieces(std::span<iovec> ours, std::span<iovec> theirs) const noexcept;
    /// Returns the number of bytes written from the front; fewer than `from.size()` if the kernel refuses, the memory
    /// is not mapped, or the peer was reached for reading. Nothing after them is written.
    std::size_t write(std::span<std::byte const> from) const noexcept;
    /// Swaps `mine` with as many bytes here. The bytes of `mine` go through `bounce`, at most `bounce.size()` at once.
    /// Returns how many bytes are swapped, from the front; the others keep their values on both sides.
    std::size_t swap(std::span<std::byte> mine, std::span<std::byte> bounce) const noexcept;

  private:
    friend class RemoteMemory;
    Remote(pid_t pid, Touch touch, std::uint64_t key) : pid_(pid), touch_(touch), key_(key) {}

    pid_t pid_ = 0;
    Touch touch_ = Touch::read;
    std::uint64_t key_ = 0;
    std::uint64_t address_ = 0;
};

/// Serves the ranks of one communicator. Its size is constant: it remembers k_remembered peers and proves the access to
/// others again. Thread-safe. It must not move, and must live until every call that gave its card to a peer has ended,
/// because peers read the nonce in it.
class RemoteMemory {
  public:
    static constexpr std::size_t k_remembered = 64;

    /// `allowed`: false if the settings ask for messages. Under the simulator there is never any access.
    explicit RemoteMemory(bool allowed);
    RemoteMemory(RemoteMemory const&) = delete;
    RemoteMemory& operator=(RemoteMemory const&) = delete;

    AccessCard const& card() const noexcept { return card_; }
    /// Whether it is worth telling `peer` our card: this process knows its machine, and `peer` has not been refused.
    bool may_reach(int peer) const noexcept;
    /// Of two processes both get the same answer, whatever keys their cards carry.
    bool shares_node(AccessCard const& theirs) const noexcept { return card_.node != 0 && theirs.node == card_.node; }
    /// Whether `peer` has been reached for writing, and this is remembered.
    bool has_reached(int peer) const noexcept;

    /// Reads the peer's nonce and, for Touch::write, writes it back: a foreign process with the same number is never
    /// written to, and only one word of it is read. Does so once for each card, as long as it is remembered. Returns
    /// nowhere, and refuses the peer from then on, if the proof fails, the card is of another machine, or its key is
    /// unknown. Ranks that cannot tell their machine pass by the nonce alone; the caller knows that they share a node.
    Remote reach(int peer, AccessCard const& theirs, Touch touch) noexcept;
    /// From now on the peer is not reached, as long as this is remembered.
    void refuse(int peer) noexcept;

  private:
    enum class State : std::uint8_t { unknown, readable, writable, refused };
    struct Known {
        int peer = -1;
        State state = State::unknown;
        pid_t pid = 0;
        std::uint64_t nonce = 0;
    };
    Known known_of(int peer) const noexcept;
    bool is_right(AccessCard const& theirs, Touch touch) const noexcept;
    Remote remember(Known const& now, AccessCard const& theirs, Touch touch) noexcept;

    std::atomic<std::uint64_t> nonce_;
    AccessCard card_;
    mutable std::mutex mutex_;
    std::array<Known, k_remembered> known_{};  // peer r has entry r mod k_remembered
};

}  // namespace sluice::node
