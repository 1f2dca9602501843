// SPDX-License-Identifier: BSD-3-Clause
/// What the ranks of a store say to each other: small control messages, and data for slots of the receiver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

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
    refuse,           ///< the request of your slot fails; bytes: ErrorCode; text: why
    request_or_read,  ///< a request whose data this rank may be able to read; text: its node
    lies_at,          ///< answers it: `bytes` for your slot are in this rank's memory; text: their address
    has_read,         ///< the reader has read them; bytes: their ticket
    cannot_read,      ///< the reader cannot read them: send them
    read_too,         ///< `name` has one more reader on this rank, which found it already fetched
    hash,             ///< the data for your slot, which follow or lie_at, have the hash `bytes`
    differs,          ///< your data `name` arrived with another hash; slot: 1 if they were sent, 0 if published
    // The send-based scheme.
    offer,   ///< `name` is packed for you and has `bytes`
    take,    ///< send what you offered to this rank's slot
    push,    ///< the `bytes` of `name` follow to push_slot()
    expect,  ///< asks to be told if `name` will not be sent
    unsent,  ///< `name` will not be sent; text: why
    noted,   ///< answers expect at once: unsent follows if it becomes true
    // Of a rank that waits long.
    ask_state,  ///< asks why `name` does not come
    state,      ///< answers it; bytes: LongWaits::State
    last,       ///< empty: it has been received when all earlier messages have
};

struct Control {
    Kind kind = Kind::request;
    std::uint32_t slot = 0;
    Name name;
    std::uint64_t bytes = 0;  ///< in a request: expected bytes; k_any: any number
    static constexpr std::uint64_t k_any = ~std::uint64_t{0};
};

/// Receives what arrives. Throws only if an MPI call fails, or std::bad_alloc: then nothing has changed, and the same
/// message is handed over again later.
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

/// How one rank talks to the others. The parts of a store know only this.
class Wire {
  public:
    Wire(Wire const&) = delete;
    Wire& operator=(Wire const&) = delete;

    int rank() const noexcept { return rank_; }
    int size() const noexcept { return size_; }
    /// The most data messages that may be on their way to this rank at once.
    std::uint32_t most_slots() const noexcept { return most_slots_; }
    /// The slot of data that were not requested; those of one sender arrive in the order of sending.
    std::uint32_t push_slot() const noexcept { return most_slots_; }
    /// Seconds since some time in the past.
    virtual double now() const = 0;

    /// Control and data for one peer arrive there in the order of sending. Control is sent without further memory, too.
    virtual void send(int peer, Control const& control, std::string_view text) = 0;
    void send(int peer, Control const& control) { send(peer, control, {}); }
    /// Call it before send_data() of so many bytes, which then allocates nothing. Returns false if there is no memory.
    virtual bool make_room(std::uint64_t bytes) noexcept = 0;
    /// Returns true if all bytes have left already; otherwise `data` must stay valid and unchanged until
    /// Arrivals::sent(ticket).
    virtual bool send_data(int peer, std::uint32_t slot, std::span<std::byte const> data, std::uint64_t ticket) = 0;
    /// Receives the piece that Arrivals::data_from was told of. Returns true if it is complete at once, also because
    /// there is no memory to come back to it; otherwise data_complete(`number`) follows.
    virtual bool receive_data(int peer, std::uint32_t slot, std::span<std::byte> to, std::uint32_t number) = 0;
    bool receive_data(int peer, std::uint32_t slot, std::span<std::byte> to) {
        return receive_data(peer, slot, to, slot);
    }

  protected:
    Wire(int rank, int size, std::uint32_t most_slots) : rank_(rank), size_(size), most_slots_(most_slots) {}
    ~Wire() = default;

  private:
    int rank_;
    int size_;
    std::uint32_t most_slots_;
};

}  // namespace sluice::fetch
