// SPDX-License-Identifier: BSD-3-Clause
/// Messages between ranks: small control messages, and data, each with a tag of its own.
///
///     tag 0        control: kind, slot, name, bytes [, text of a refusal]
///     tag 1 + s    data for slot s of the receiver, in pieces of at most k_piece bytes
///
/// Slots are tags, and each may be an open request.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fetch/wire.hpp"
#include "mpi/mpi.hpp"

namespace sluice::fetch {

/// A store has one. Takes 64 bytes for each open MPI request, and a slot of k_control bytes for each control
/// message that has not left yet. Once a message has been handed to MPI, nothing fails but MPI: where there is no
/// memory to remember it, the call waits until it has left.
class MpiWire final : public Wire {
  public:
    static constexpr std::size_t k_control = 256;
    static constexpr std::size_t k_piece = std::size_t{1} << 30;

    /// Allocates what it needs at first; not collective. `comm` must live until connect() has returned.
    explicit MpiWire(MPI_Comm comm);
    ~MpiWire();
    MpiWire(MpiWire const&) = delete;
    MpiWire& operator=(MpiWire const&) = delete;

    /// Collective: gets a communicator of its own, with the ranks of `comm`. It is called once, before all that
    /// follows.
    void connect();
    MPI_Comm comm() const noexcept { return comm_.get(); }
    double now() const override { return MPI_Wtime(); }

    using Wire::receive_data;
    using Wire::send;
    void send(int peer, Control const& control, std::string_view text) override;
    /// From now on the wire is quiet only when all messages without an answer have been confirmed. If a message is
    /// still on its way when its communicator is freed, Open MPI takes it for one of the next communicator's.
    void make_heard();
    bool make_room(std::uint64_t bytes) noexcept override;
    bool send_data(int peer, std::uint32_t slot, std::span<std::byte const> data, std::uint64_t ticket) override;
    /// A small piece is complete at once.
    bool receive_data(int peer, std::uint32_t slot, std::span<std::byte> to, std::uint32_t number) override;

    bool poll(Arrivals& to);
    bool is_quiet() const noexcept { return open_.empty() && kept_.from == k_nobody; }

  private:
    enum class Use : std::uint8_t { control_out, control_heard, data_out, data_in };
    struct Open {
        Use use;
        std::uint64_t ticket;  // data_out: the caller's; data_in: the slot or number; control_…: index of its buffer
        std::size_t bytes;
    };

    /// A control message that was received. It stays here until there is memory to handle it, and no later message is
    /// received meanwhile.
    static constexpr int k_nobody = -1;
    struct Kept {
        int from = k_nobody;
        std::size_t bytes = 0;
        std::array<std::byte, k_control> message;
    };

    bool may_open(std::size_t more) noexcept;
    bool open_or_wait(MPI_Request request, Open const& what);
    std::size_t place_for_control() noexcept;
    void send_control(int peer, Control const& control, std::string_view text, Use use);
    bool has_left(std::byte const* bytes, std::size_t count, int peer, int tag, Open const& what);
    bool was_last_piece(std::uint64_t ticket);
    bool look_at_arrivals(Arrivals& to);
    bool hand_over(Arrivals& to);
    bool test_open(Arrivals& to);

    MPI_Comm parent_;
    mpi::Communicator comm_;
    std::vector<MPI_Request> requests_;
    std::vector<Open> open_;      // what each request is for
    std::size_t promised_ = 1;    // further ones that make_room() has promised room for
    std::vector<int> done_;       // as large as requests_ may become without an allocation
    std::vector<Open> complete_;  // the same
    using PiecesLeft = std::unordered_map<std::uint64_t, int>;
    PiecesLeft pieces_left_;            // by ticket, if it has several
    PiecesLeft::node_type new_pieces_;  // for the next message of several
    Kept kept_;
    std::vector<std::vector<std::byte>> controls_;  // control messages on their way out
    std::vector<std::size_t> free_controls_;
    std::unordered_set<int> unheard_;  // peers with messages that have no answer
};

}  // namespace sluice::fetch
