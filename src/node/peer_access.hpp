// SPDX-License-Identifier: BSD-3-Clause
/// Which peers' memory this process may read and write, found out peer by peer.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace sluice::node {

/// What a peer must know of us to reach our memory. Travels in messages as it is.
struct AccessCard {
    std::uint64_t node = 0;  ///< equal for processes that see each other's numbers; 0: no access
    std::uint64_t nonce = 0;
    std::uint64_t nonce_address = 0;
    std::int64_t pid = 0;
};

/// One for each communicator whose ranks it is asked about. Constant size: it remembers k_remembered peers and asks
/// again for others. Thread-safe. Must not move, and must live until every call that gave its card to a peer is over:
/// peers read the nonce in it.
class PeerAccess {
  public:
    static constexpr std::size_t k_remembered = 64;

    /// `allowed`: false where the settings want messages. Under the simulator there is never any access.
    explicit PeerAccess(bool allowed);
    PeerAccess(PeerAccess const&) = delete;
    PeerAccess& operator=(PeerAccess const&) = delete;

    AccessCard const& card() const noexcept { return card_; }
    /// Whether reads and writes can be thought of at all: `peer` has not been refused, its node is ours.
    bool is_possible(int peer) const noexcept;
    bool shares_node(AccessCard const& theirs) const noexcept { return card_.node != 0 && theirs.node == card_.node; }
    /// Whether `prove` has once succeeded for this peer and is remembered.
    bool is_proven(int peer) const noexcept;
    /// Reads the peer's nonce and writes it back, so that a foreign process with the same number is never written to
    /// and only one word of it is read. Remembers the outcome.
    bool prove(int peer, AccessCard const& theirs) noexcept;
    /// From now on this peer is not possible.
    void refuse(int peer) noexcept;

  private:
    enum class State : std::uint8_t { unknown, proven, refused };
    struct Known {
        int peer = -1;
        State state = State::unknown;
    };
    State state_of(int peer) const noexcept;
    void remember(int peer, State state) noexcept;

    std::atomic<std::uint64_t> nonce_;
    AccessCard card_;
    mutable std::mutex mutex_;
    std::array<Known, k_remembered> known_{};  // peer r at place r mod k_remembered
};

}  // namespace sluice::node
