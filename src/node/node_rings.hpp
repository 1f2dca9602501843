// SPDX-License-Identifier: BSD-3-Clause
/// Shared memory between the ranks of a node: one ring of packets for each ordered pair, and a doorbell for each rank.
///
///   window of rank `to`:
///   +----------+--------------+--------------+-----+
///   | doorbell | ring from 0  | ring from 1  | ... |      a ring: [ head | packet packet packet ..... ]
///   +----------+--------------+--------------+-----+                      ^read            ^written
///
/// Each ring has one producer and one consumer, and no rank has a ring to itself. A packet never wraps around the end.
/// A rank without work spins briefly, announces that it sleeps, and sleeps on its doorbell. A rank that writes a packet
/// or frees ring space wakes a sleeper.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mpi/mpi.hpp"
#include "sluice/units.hpp"

namespace sluice::node {

/// A packet as its consumer sees it, valid until NodeRings::pop.
struct Packet {
    std::uint32_t kind = 0;
    std::uint32_t count = 0;
    std::uint64_t pass = 0;
    std::span<std::byte const> body;
    explicit operator bool() const noexcept { return body.data() != nullptr; }
};

class NodeRings {
  public:
    /// Collective over `node`, the ranks of one node. `incoming` is the number of bytes of all rings into one rank.
    /// Throws Error(unsupported) on every rank of the node if shared memory is too small.
    NodeRings(MPI_Comm node, Bytes incoming);
    ~NodeRings();
    NodeRings(NodeRings const&) = delete;
    NodeRings& operator=(NodeRings const&) = delete;

    int rank() const noexcept { return rank_; }
    int size() const noexcept { return size_; }
    Bytes memory() const noexcept { return {window_bytes_}; }
    std::size_t ring_bytes() const noexcept { return ring_bytes_; }
    /// The largest body that `reserve` can ever grant.
    std::size_t largest_body() const noexcept { return ring_bytes_ / 2 - k_header; }

    /// Bytes that a packet to `to` may have now; 0 if not even a header fits.
    std::size_t room(int to) noexcept;
    /// Returns space for a packet of `bytes`, or null. The caller writes to it and publishes it with `commit`.
    std::byte* reserve(int to, std::size_t bytes) noexcept;
    /// Publishes the packet reserved last for `to`; `bytes` may be less than reserved.
    void commit(int to, std::uint32_t kind, std::uint32_t count, std::uint64_t pass, std::size_t bytes) noexcept;

    /// The oldest packet from `from`; false if there is none.
    Packet peek(int from) noexcept;
    void pop(int from) noexcept;

    /// Returns the ticket for `sleep`. Take it before the last look for work, so that nothing that arrives in between
    /// is missed.
    std::uint32_t prepare_to_sleep() noexcept;
    void cancel_sleep() noexcept;
    /// Sleeps until the doorbell rings after `ticket` was taken, or for a millisecond at most. Returns false if it did
    /// not ring.
    bool sleep(std::uint32_t ticket) noexcept;

    /// Called about once in a millisecond by a rank that waits.
    using Look = std::function<void()>;

    /// Waits for all ranks of the node. It sleeps meanwhile, so it costs little with more ranks than cores.
    void barrier(Look const& look = {});

    /// Collective over the node: each of at most `k_most_values` values becomes its maximum over all ranks.
    void most_of_all(std::span<std::uint64_t> values, Look const& look = {});
    static constexpr std::size_t k_most_values = 16;

    /// 64 bytes for each rank that all can read; a rank publishes values there before a barrier.
    std::span<std::byte, 64> board(int rank) noexcept;

  private:
    struct alignas(64) Doorbell;
    struct alignas(64) RingHead;
    static constexpr std::size_t k_header = 24;

    RingHead& ring(int from, int to) noexcept;
    void ring_doorbell(int of) noexcept;

    int rank_ = 0;
    int size_ = 1;
    std::size_t ring_bytes_ = 0;
    std::size_t window_bytes_ = 0;
    mpi::SharedWindow window_;
    std::vector<std::byte*> bases_;  // one for each rank's window, aligned
    struct Reservation {
        std::uint64_t at = 0;
    };
    std::vector<Reservation> reserved_;  // indexed by target
    std::vector<std::uint64_t> peeked_;  // indexed by source: the end of the packet that peek() returned
};

}  // namespace sluice::node
