// SPDX-License-Identifier: BSD-3-Clause
/// Fetches over MPI messages: works everywhere.
///
///   receiver                         owner
///     request {slots}  ----------->    queue of requests, served in order
///     piece into place <-----------    Isend straight from the slot      (pieces of k_direct_bytes and more)
///     n pieces packed  <-----------    gathered into a buffer            (smaller pieces)
///
/// All requests (MPI_Request) together are at most `open_requests`. Messages of one pair keep MPI's order, so a piece
/// needs no header: the receives were posted in the order of the request. One request-receive is open only while slots
/// of ours are still to be asked for, so nothing is left open at the end of a pass.
#pragma once

#include <mpi.h>

#include "base/counters.hpp"
#include "engine/transports/transport.hpp"
#include "memory/meter.hpp"
#include "sluice/units.hpp"

namespace sluice::engine {

class MessageTransport final : public Transport {
  public:
    /// Pieces from this size on travel alone, straight between the slots.
    static constexpr std::uint64_t k_direct_bytes = 4096;

    /// `memory`: bytes for lists of slots and for packing; the open requests take a few KiB in addition. `piece_bytes`:
    /// of a full pass. Allocates all memory that it will ever need.
    MessageTransport(MPI_Comm comm, std::uint64_t piece_bytes, Bytes memory, std::uint64_t open_requests,
                     memory::Meter& meter, base::Counters& counters);

    bool reaches(int) const override { return true; }
    void begin_pass(Slots const& slots, std::uint64_t pass, FetchListener& listener) override;
    std::size_t room(int peer) override;
    void start(int peer, std::span<Fetch const> fetches) override;
    bool progress() override;

    /// Says how many of our slots other ranks will still request by message in this pass.
    void expect(std::uint64_t slots_to_be_asked) noexcept;
    /// Blocks until one of the open MPI requests completes, if there is any, and handles it.
    bool wait();

    std::uint64_t requests_peak() const noexcept { return requests_peak_; }

  private:
    static constexpr std::size_t k_most_slots_in_request = 128;
    static constexpr std::size_t k_queue = 16;  // requests of peers that wait to be served
    enum class Kind : unsigned char { idle, piece_in, packed_in, piece_out, packed_out, request_in, request_out };

    /// The purpose of one MPI request; at the same position as in `open_`.
    struct Job {
        Kind kind = Kind::idle;
        std::size_t index = 0;    // packed_in, request_out: in `asked_`; packed_out: the buffer
        std::uint64_t place = 0;  // piece_in: its destination; piece_out: the slot that is vacated
    };
    /// A request for slots: ours (asked_) or a peer's (serving_).
    struct Request {
        int peer = -1;
        std::size_t count = 0;
        std::size_t next = 0;             // serving: pieces sent; asked: pieces received
        std::size_t uses = 0;             // asked: MPI requests that still refer to it
        std::size_t buffer = 0;           // asked, packed
        std::uint64_t* slots = nullptr;   // of the owner
        std::uint64_t* places = nullptr;  // of the receiver; asked only
    };

    bool direct() const noexcept { return slots_.piece_bytes >= k_direct_bytes; }
    std::size_t take_job(Kind kind, std::size_t index, std::uint64_t place);
    void finish(std::size_t job, MPI_Status const& status);
    bool handle_completed(bool block);
    bool serve();
    void serve_direct(Request& request);
    void serve_packed(Request& request);
    void post_request_receive();
    void scatter(Request& request);
    void drop_asked(std::size_t index);
    int tag(int which) const noexcept { return which + static_cast<int>(pass_ & 1U); }

    MPI_Comm comm_;
    Slots slots_;
    std::uint64_t pass_ = 0;
    FetchListener* listener_ = nullptr;
    std::uint64_t to_be_asked_ = 0;
    std::size_t most_in_;      // most receives of pieces open at once
    std::size_t most_out_;     // most sends of pieces
    std::size_t most_asking_;  // most sends of requests
    std::size_t in_ = 0;
    std::size_t out_ = 0;
    std::size_t asking_ = 0;
    std::size_t active_ = 0;  // open MPI requests of all kinds
    std::uint64_t requests_peak_ = 0;

    memory::MeteredVector<MPI_Request> open_;
    memory::MeteredVector<Job> jobs_;
    memory::MeteredVector<std::size_t> free_jobs_;
    memory::MeteredVector<int> completed_;
    memory::MeteredVector<MPI_Status> statuses_;

    std::size_t buffer_bytes_;
    memory::MeteredVector<std::byte> buffers_;
    memory::MeteredVector<std::size_t> free_in_;
    memory::MeteredVector<std::size_t> free_out_;

    std::size_t slots_in_request_;
    memory::MeteredVector<std::uint64_t> slot_lists_;  // of all requests, and of the one being received
    std::uint64_t* incoming_request_;
    memory::MeteredVector<Request> asked_;
    memory::MeteredVector<std::size_t> free_asked_;
    memory::MeteredVector<Request> serving_;  // a ring: requests of peers, served in their order
    std::size_t serving_head_ = 0;
    std::size_t serving_count_ = 0;
    bool request_receive_open_ = false;

    base::Counter& messages_;
    base::Counter& requests_;
};

}  // namespace sluice::engine
