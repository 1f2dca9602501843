// SPDX-License-Identifier: BSD-3-Clause
/// One pair of an in-place all-to-all: two blocks of equal bytes are swapped.
///
///                     bytes <= k_small, or bytes that differ
///     entry ───────────────────────────────────────────────────────────────> finished
///       │ both dense, one node, access thought possible     all swapped        ^
///       ├──> proof ──> swap ──> settle ────────────────────────────────────────┤
///       │ (proof only  │          │ access lost: the rest goes by the pair's    │
///       │  once a peer)│ none     v own slot                                   │
///       │              │        staged ────────────────────────────────────────┤
///       └──────────────┴──────> queued ──> staged, by the lane that was granted ┘
///
/// Both sides decide alike, because each decision depends only on values that both know: the two entry messages, the
/// two proofs, the two numbers of bytes that were swapped. In `swap` the lower rank serves the first part of the block,
/// the higher the rest, and each reads and writes the other's memory without its help. Neither touches the part that
/// the other serves until the other has reported in `settle` how many bytes it swapped.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "node/remote_memory.hpp"
#include "sluice/collectives.hpp"
#include "types/datatype_pieces.hpp"

namespace sluice::collectives {

/// Shared by all pairs of one call; must outlive them.
struct PairMeans {
    MPI_Comm comm;
    int tag;
    node::RemoteMemory& peers;
    /// The staging after the slots. Three quarters of it are the lane, which one pair at once uses for its messages.
    /// Pairs that swap use the part that is free, each only within one `step`.
    std::span<std::byte> shared;
    bool lane_is_taken;
    AlltoallReport& report;
    bool& in_mpi;  ///< a call of MPI is under way, or was left by an exception of the program

    std::span<std::byte> lane() const noexcept { return shared.first(shared.size() / 4 * 3); }
    std::span<std::byte> bounce() const noexcept {
        constexpr std::size_t k_most = 256 << 10;  // so that bytes stay in the cache between their two copies
        std::span<std::byte> const free = lane_is_taken ? shared.subspan(lane().size()) : shared;
        return free.first(std::min(free.size(), k_most));
    }
};

/// The first message of a member to the other, sent byte for byte.
struct PairEntry {
    std::uint64_t bytes;
    std::uint64_t address;
    node::AccessCard card;
    std::uint32_t chunk;  ///< bytes that a chunk in our lane may have
    std::uint32_t flags;
};

class PairExchange {
  public:
    static constexpr std::size_t k_requests = 4;
    static constexpr std::size_t k_small = 8192;  ///< bytes of a block that are sent with the entry
    /// Bytes of staging that each pair needs for itself.
    static constexpr std::size_t k_slot_bytes = 2 * (sizeof(PairEntry) + k_small);

    /// Makes a finished pair; `start` begins the next one.
    PairExchange() = default;
    PairExchange(PairExchange const&) = delete;
    PairExchange& operator=(PairExchange const&) = delete;

    /// `peer` is a rank of the communicator; `is_lower` selects our half and is true on one side only. `slot` is
    /// staging of k_slot_bytes bytes, `requests` the k_requests null requests that the pair may use; the caller
    /// completes them. `map` must outlive the exchange.
    void start(PairMeans& means, int peer, bool is_lower, std::span<std::byte> slot,
               std::span<MPI_Request, k_requests> requests, types::TypeMap const& map, void* buffer,
               std::uint64_t count);

    /// Advances as far as it can without waiting, by at most one bounce of direct swapping. Returns true if something
    /// moved.
    bool step();
    bool is_finished() const noexcept { return state_ == State::finished; }
    /// Whether the pair may still turn out to need the lane.
    bool is_undecided() const noexcept { return state_ == State::entry || state_ == State::proof; }
    /// Whether the peer has not begun the pair, as far as this rank knows.
    bool waits_for_entry() const noexcept { return state_ == State::entry; }
    bool is_queued() const noexcept { return state_ == State::queued; }
    /// Gives the lane to a queued pair until it is finished.
    void grant_lane();
    int peer() const noexcept { return peer_; }
    /// The bytes of the peer's block if they differ from ours; then nothing was exchanged.
    std::optional<std::uint64_t> const& other_bytes() const noexcept { return other_bytes_; }

  private:
    enum class State { entry, proof, swap, settle, queued, staged, finished };

    struct Range {
        std::uint64_t begin;
        std::uint64_t end;
    };

    bool are_complete(std::size_t first, std::size_t count) const noexcept;
    void send(std::size_t request, void const* from, std::size_t bytes);
    void receive(std::size_t request, void* to, std::size_t bytes);
    void trade_word(std::uint64_t word);

    void send_entry();
    void read_entry();
    void prove_access();
    void read_proof();
    void begin_swap();
    void swap_some();
    void read_settlement();
    void begin_staged(std::span<std::byte> area, std::size_t chunk, Range first, Range second);
    void post_chunk(std::size_t lane);
    bool move_chunks();

    std::span<std::byte> out(std::size_t lane) const noexcept;
    std::span<std::byte> in(std::size_t lane) const noexcept;

    PairMeans* means_ = nullptr;
    int peer_ = -1;
    bool is_lower_ = false;
    State state_ = State::finished;
    std::span<std::byte> slot_;
    std::span<std::byte> area_;  // for sending and receiving, half each: the slot, or the lane
    std::span<MPI_Request> requests_;
    std::optional<types::PieceCursor> packing_;
    std::optional<types::PieceCursor> unpacking_;
    std::uint64_t bytes_ = 0;
    std::uint32_t flags_ = 0;
    PairEntry theirs_{};
    std::optional<std::uint64_t> other_bytes_;

    std::uint64_t word_out_ = 0;
    std::uint64_t word_in_ = 0;

    Range mine_{};               // swap: the part that this side serves
    std::uint64_t swapped_ = 0;  // bytes of this part that have been swapped
    node::Remote their_block_;

    // While staged: the ranges of the block that are still to be posted, and the chunks under way, one in each lane.
    std::size_t chunk_ = 0;
    std::array<Range, 2> to_post_{};
    std::array<Range, 2> under_way_{};
    std::size_t lane_ = 0;  // the lane of the oldest chunk under way
};

}  // namespace sluice::collectives
