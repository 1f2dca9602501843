// SPDX-License-Identifier: BSD-3-Clause
/// Receivers on the node of a sender read its large blocks, with one copy from one buffer into the other.
///
///     sender                          receiver
///     offer: card, address, bytes ──> reads, straight into its buffer ── answer: taken ──> the block is done
///                                     cannot ─────────────────────────── answer: send it ──> block ──> done
///     offer without an address, and the block itself ──> done            (types with gaps, refused peers)
///     small block ──> done
///
/// Each block goes its own way, which both ranks of the pair know from its bytes and its offer. So nothing is agreed on
/// by all, and a rank that has lost the access to one peer goes on with the others. A rank returns when all its offers
/// are answered: no rank reads its buffer any more. Offers go out in the order of distances, a bounded number at once,
/// so it ends as a window does (window.cpp), because an answer waits for nothing but its offer.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/alltoall/algorithm.hpp"
#include "collectives/alltoall/own_block.hpp"
#include "collectives/alltoall/tokens.hpp"

namespace sluice::collectives {

class Pull {
  public:
    Pull(Problem const& problem, AlltoallOutcome& outcome);
    Pull(Pull const&) = delete;
    Pull& operator=(Pull const&) = delete;
    /// If MPI failed, cancels what is open.
    ~Pull();

    void run();

  private:
    /// Sent byte for byte.
    struct Offer {
        node::AccessCard card;
        std::uint64_t address = 0;  ///< 0: the block follows in a message
        std::uint64_t bytes = 0;
    };
    enum class Answer : std::uint64_t { taken = 1, send_it = 2 };
    enum class Stage : std::uint8_t { idle, offer, block, answer };

    /// One block that leaves or comes. Of its two requests the second is that of the sender for the answer.
    struct Transfer {
        Stage stage = Stage::idle;
        int member = -1;
        Offer offer;
        Answer answer = Answer::taken;
    };

    std::span<MPI_Request, 2> requests_of(std::size_t transfer) noexcept {
        return std::span<MPI_Request, 2>(&requests_[2 * transfer], 2);
    }
    bool is_idle(std::size_t transfer) const noexcept { return transfers_[transfer].stage == Stage::idle; }
    std::vector<int> under_way() const;
    void start();
    void start_in(std::size_t transfer, int member);
    void start_out(std::size_t transfer, int member);
    bool test();
    bool step_in(std::size_t transfer);
    bool step_out(std::size_t transfer);
    std::uint64_t address_of_block(int member) const;
    bool read(Transfer const& from);
    bool read_pieces(Transfer const& from, node::Remote const& place);

    Problem const& problem_;
    AlltoallOutcome& outcome_;
    std::optional<BothMaps> maps_;  ///< without memory blocks go in messages
    Tokens tokens_;
    // Blocks that come have even places, blocks that leave odd ones.
    std::array<Transfer, 2 * Tokens::k_most> transfers_;
    std::array<MPI_Request, 4 * Tokens::k_most> requests_;
    int next_in_ = 1;
    int next_out_ = 1;
    int under_way_ = 0;
};

}  // namespace sluice::collectives
