// SPDX-License-Identifier: BSD-3-Clause
/// Finds out, peer by peer, whose memory this process may read and write.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace sluice::node {

/// What a peer must know to reach this process's memory. It is sent in messages byte for byte.
struct AccessCard {
    std::uint64_t node = 0;  ///< equal for processes that see each other's process numbers; 0: no access
    std::uint64_t nonce = 0;
    std::uint64_t nonce_address = 0;
    std::int64_t pid = 0;
};

/// Serves the ranks of one communicator. Its size is constant: it remembers k_remembered peers and proves the access to
/// others again. Thread-safe. It must not move, and must live until every call that gave its card to a peer has ended,
/// because peers read the nonce in it.
class PeerAccess {
  public:
    static constexpr std::size_t k_remembered = 64;

    /// `allowed`: false if the settings ask for messages. Under the simulator there is never any access.
    explicit PeerAccess(bool allowed);
    PeerAccess(PeerAccess const&) = delete;
    PeerAccess& operator=(PeerAccess const&) = delete;

    AccessCard const& card() const noexcept { return card_; }
    /// Whether access may work: `peer` has not been refused and is on this node.
    bool is_possible(int peer) const noexcept;
    bool shares_node(AccessCard const& theirs) const noexcept { return card_.node != 0 && theirs.node == card_.node; }
    /// Whether `prove` has succeeded for this peer and the result is still remembered.
    bool is_proven(int peer) const noexcept;
    /// Reads the peer's nonce and writes it back, so that a foreign process with the same number is never written to
    /// and only one word of it is read. Remembers the result.
    bool prove(int peer, AccessCard const& theirs) noexcept;
    /// Makes is_possible() false for this peer.
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
    std::array<Known, k_remembered> known_{};  // peer r has entry r mod k_remembered
};

}  // namespace sluice::node
