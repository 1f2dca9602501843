// SPDX-License-Identifier: BSD-3-Clause
/// Messages between ranks: small control messages, and data, each with a tag of its own.
///
///     tag 0        control: kind, slot, name, bytes [, text of a refusal]
///     tag 1 + s    data for slot s of the receiver, in pieces of at most k_piece bytes
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "mpi/mpi.hpp"

namespace sluice::fetch {

/// The name of a publication on its owner.
struct Name {
    std::uint64_t id = 0;
    std::uint64_t epoch = 0;
    bool operator==(Name const&) const = default;
};

struct NameHash {
    std::size_t operator()(Name const& name) const noexcept {
        return static_cast<std::size_t>((name.id + 0x9e37'79b9'7f4a'7c15ULL * name.epoch) * 0xbf58'476d'1ce4'e5b9ULL >>
                                        16);
    }
};

enum class Kind : std::uint32_t {
    request,          ///< phase 2: asks for the data of `name` in this rank's slot, as soon as they are published
    ask,              ///< asks for an answer to `slot` when `name` is published
    ready,            ///< answers ask: `name` is published and has `bytes`
    refuse,           ///< the request of your slot fails; text: why
    request_or_read,  ///< a request whose data this rank may be able to read; text: its node
    lies_at,          ///< answers it: `bytes` for your slot are in this rank's memory; text: their address
    has_read,         ///< the reader has read them; bytes: their ticket
    cannot_read,      ///< the reader cannot read them: send them
    read_too,         ///< `name` has one more reader on this rank, which found it already fetched
    // The send-based scheme.
    offer,   ///< `name` is packed for you and has `bytes`
    take,    ///< send what you offered to this rank's slot
    push,    ///< the `bytes` of `name` follow to push_slot()
    expect,  ///< asks to be told if `name` will not be sent
    unsent,  ///< `name` will not be sent; text: why
    noted,   ///< answers expect at once: unsent follows if it becomes true
    last,    ///< empty: it has been received when all earlier messages have
};

struct Control {
    Kind kind = Kind::request;
    std::uint32_t slot = 0;
    Name name;
    std::uint64_t bytes = 0;  ///< in a request: expected bytes; k_any: any number
    static constexpr std::uint64_t k_any = ~std::uint64_t{0};
};

/// Receives what arrives. Throws only if an MPI call fails.
class Arrivals {
  public:
    virtual void control_from(int peer, Control const& control, std::string_view text) = 0;
    /// A piece for `slot` has arrived and is received by `Wire::receive_data`. Returns false if it cannot be taken now:
    /// it then stays in MPI, and no later message is handled.
    virtual bool data_from(int peer, std::uint32_t slot, std::size_t bytes) = 0;
    /// A piece that was received in the background is complete.
    virtual void data_complete(std::uint32_t slot, std::size_t bytes) = 0;
    /// All bytes given to send_data with this ticket have left.
    virtual void sent(std::uint64_t ticket) = 0;

  protected:
    ~Arrivals() = default;
};

/// A store has one Wire. Takes 24 bytes for each open MPI request, and a slot of k_control bytes for each control
/// message that has not left yet.
class Wire {
  public:
    static constexpr std::size_t k_control = 256;
    static constexpr std::size_t k_piece = std::size_t{1} << 30;

    /// Collective over `comm`, which is duplicated.
    explicit Wire(MPI_Comm comm);
    ~Wire();
    Wire(Wire const&) = delete;
    Wire& operator=(Wire const&) = delete;

    MPI_Comm comm() const noexcept { return comm_.get(); }
    int rank() const noexcept { return rank_; }
    int size() const noexcept { return size_; }
    /// The most data messages that may be on their way to this rank at once: slots are tags, and each may be an open
    /// request.
    std::uint32_t most_slots() const noexcept { return most_slots_; }
    /// The slot of data that were not requested; those of one sender arrive in the order of sending.
    std::uint32_t push_slot() const noexcept { return most_slots_; }

    /// Control and data for one peer arrive there in the order of sending.
    void send(int peer, Control const& control, std::string_view text = {});
    /// From now on the wire is quiet only when all messages without an answer have been confirmed. If a message is
    /// still on its way when its communicator is freed, Open MPI takes it for one of the next communicator's.
    void make_heard();
    /// Returns true if all bytes have left already; otherwise `data` must stay valid and unchanged until
    /// Arrivals::sent(ticket).
    bool send_data(int peer, std::uint32_t slot, std::span<std::byte const> data, std::uint64_t ticket);
    /// Receives the piece that Arrivals::data_from was told of. Returns true for a small piece, which is complete at
    /// once; otherwise data_complete(`number`) follows.
    bool receive_data(int peer, std::uint32_t slot, std::span<std::byte> to, std::uint32_t number);
    bool receive_data(int peer, std::uint32_t slot, std::span<std::byte> to) {
        return receive_data(peer, slot, to, slot);
    }

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
    void send(int peer, Control const& control, std::string_view text, Use use);
    bool has_left(std::byte const* bytes, std::size_t count, int peer, int tag, Open const& what);
    bool was_last_piece(std::uint64_t ticket);
    bool look_at_arrivals(Arrivals& to);
    bool test_open(Arrivals& to);

    mpi::Communicator comm_;
    int rank_;
    int size_;
    std::uint32_t most_slots_;
    std::vector<MPI_Request> requests_;
    std::vector<Open> open_;  // what each request is for
    std::vector<int> done_;
    std::unordered_map<std::uint64_t, int> pieces_left_;  // by ticket, if it has several
    std::vector<std::vector<std::byte>> controls_;        // control messages on their way out
    std::vector<std::size_t> free_controls_;
    std::unordered_set<int> unheard_;  // peers with messages that have no answer
};

}  // namespace sluice::fetch
