// SPDX-License-Identifier: BSD-3-Clause
/// What travels between ranks: small control messages, and data, each with a tag of its own.
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

/// What a publication is called on its owner.
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
    request,          ///< phase 2: data of `name` to my slot, as soon as they are published
    ask,              ///< tell my slot when `name` is published
    ready,            ///< the answer: it is, and has `bytes`
    refuse,           ///< the request of your slot fails: text
    request_or_read,  ///< a request whose data I may be able to read; text: my node
    lies_at,          ///< the answer: `bytes` for your slot lie in my memory; text: where
    has_read,         ///< I have what you said lies there; bytes: its ticket
    cannot_read,      ///< I cannot: send it
    read_too,         ///< `name` has had one more reader here, who found it already fetched
    // The send-based scheme.
    offer,   ///< `name` is packed for you, `bytes`
    take,    ///< what you offered, to my slot
    push,    ///< `name`, its `bytes` follow to push_slot()
    expect,  ///< tell me if `name` will not be sent
    unsent,  ///< it will not: text
    noted,   ///< the answer, at once: you will be told, if you have not been
    last,    ///< hear all that I have told you so far
};

struct Control {
    Kind kind = Kind::request;
    std::uint32_t slot = 0;
    Name name;
    std::uint64_t bytes = 0;  ///< request: that are expected; k_any: whatever there is
    static constexpr std::uint64_t k_any = ~std::uint64_t{0};
};

/// Who is told of what arrives. Does not throw but for a broken MPI.
class Arrivals {
  public:
    virtual void control_from(int peer, Control const& control, std::string_view text) = 0;
    /// A piece for `slot` is there; it is received by `Wire::receive_data`. False where it cannot be taken now: it
    /// stays where it is, and nothing behind it is looked at.
    virtual bool data_from(int peer, std::uint32_t slot, std::size_t bytes) = 0;
    /// A piece that was received in the background is complete.
    virtual void data_complete(std::uint32_t slot, std::size_t bytes) = 0;
    /// All bytes given to send_data with this ticket have left.
    virtual void sent(std::uint64_t ticket) = 0;

  protected:
    ~Arrivals() = default;
};

/// One for each store. Its memory: 24 bytes an open MPI request, a slot of k_control bytes for each control message
/// that has not left yet.
class Wire {
  public:
    static constexpr std::size_t k_control = 256;
    static constexpr std::size_t k_piece = std::size_t{1} << 30;

    /// Collective: a private twin of `comm`.
    explicit Wire(MPI_Comm comm);
    ~Wire();
    Wire(Wire const&) = delete;
    Wire& operator=(Wire const&) = delete;

    MPI_Comm comm() const noexcept { return comm_.get(); }
    int rank() const noexcept { return rank_; }
    int size() const noexcept { return size_; }
    /// Data that may be on their way to this rank at a time: slots are tags, and each may be an open request.
    std::uint32_t most_slots() const noexcept { return most_slots_; }
    /// For data that nobody asked for: of one sender in the order of sending.
    std::uint32_t push_slot() const noexcept { return most_slots_; }

    /// What goes to one peer, control and data, is heard there in that order.
    void send(int peer, Control const& control, std::string_view text = {});
    /// From now on the wire is quiet only when all that was told without an answer has been heard. Where a message is
    /// still on its way when its communicator is freed, Open MPI takes it for one of the next communicator's.
    void make_heard();
    /// True where all has left already; otherwise `data` must stay as it is until Arrivals::sent(ticket).
    bool send_data(int peer, std::uint32_t slot, std::span<std::byte const> data, std::uint64_t ticket);
    /// The piece that Arrivals::data_from was told of. Small ones at once; others end by data_complete, which is told
    /// of `number`. True in the first case.
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
        std::uint64_t ticket;  // data_out: the caller's; data_in: the slot or number; control_…: its place
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
    std::vector<Open> open_;  // what each request is
    std::vector<int> done_;
    std::unordered_map<std::uint64_t, int> pieces_left_;  // of tickets that have several
    std::vector<std::vector<std::byte>> controls_;        // on their way out
    std::vector<std::size_t> free_controls_;
    std::unordered_set<int> unheard_;  // peers who were told something without an answer
};

}  // namespace sluice::fetch
