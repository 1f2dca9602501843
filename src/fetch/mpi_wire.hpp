// SPDX-License-Identifier: BSD-3-Clause
/// Messages between ranks: small control messages, and data, each with a tag of its own.
///
///     tag 0        control: kind, slot, name, bytes [, text of a refusal]
///     tag 1 + s    data for slot s of the receiver, in pieces of at most k_piece bytes
///
/// Slots are tags, and each may be an open request.
#pragma once

#include <mpi.h>

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

/// A store has one. Takes 24 bytes for each open MPI request, and a slot of k_control bytes for each control
/// message that has not left yet.
class MpiWire final : public Wire {
  public:
    static constexpr std::size_t k_control = 256;
    static constexpr std::size_t k_piece = std::size_t{1} << 30;

    /// Collective over `comm`, which is duplicated.
    explicit MpiWire(MPI_Comm comm);
    ~MpiWire();
    MpiWire(MpiWire const&) = delete;
    MpiWire& operator=(MpiWire const&) = delete;

    MPI_Comm comm() const noexcept { return comm_.get(); }
    double now() const override { return MPI_Wtime(); }

    using Wire::receive_data;
    using Wire::send;
    void send(int peer, Control const& control, std::string_view text) override;
    /// From now on the wire is quiet only when all messages without an answer have been confirmed. If a message is
    /// still on its way when its communicator is freed, Open MPI takes it for one of the next communicator's.
    void make_heard();
    bool send_data(int peer, std::uint32_t slot, std::span<std::byte const> data, std::uint64_t ticket) override;
    /// A small piece is complete at once.
    bool receive_data(int peer, std::uint32_t slot, std::span<std::byte> to, std::uint32_t number) override;

    bool poll(Arrivals& to);
    bool is_quiet() const noexcept { return open_.empty(); }

  private:
    enum class Use : std::uint8_t { control_out, control_heard, data_out, data_in };
    struct Open {
        Use use;
        std::uint64_t ticket;  // data_out: the caller's; data_in: the slot or number; control_…: index of its buffer
        std::size_t bytes;
    };

    void open(MPI_Request request, Open const& what);
    void send_control(int peer, Control const& control, std::string_view text, Use use);
    bool has_left(std::byte const* bytes, std::size_t count, int peer, int tag, Open const& what);
    bool was_last_piece(std::uint64_t ticket);
    bool look_at_arrivals(Arrivals& to);
    bool test_open(Arrivals& to);

    explicit MpiWire(mpi::Communicator comm);

    mpi::Communicator comm_;
    std::vector<MPI_Request> requests_;
    std::vector<Open> open_;  // what each request is for
    std::vector<int> done_;
    std::unordered_map<std::uint64_t, int> pieces_left_;  // by ticket, if it has several
    std::vector<std::vector<std::byte>> controls_;        // control messages on their way out
    std::vector<std::size_t> free_controls_;
    std::unordered_set<int> unheard_;  // peers with messages that have no answer
};

}  // namespace sluice::fetch
