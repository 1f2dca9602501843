// SPDX-License-Identifier: BSD-3-Clause
#include "engine/transports/message.hpp"

#include <algorithm>
#include <cstring>

#include "groups/tags.hpp"
#include "mpi/mpi.hpp"

namespace sluice::engine {

namespace {
// Two tags for each purpose: a peer may be one pass ahead of us, and its messages must not be taken for this pass.
// These are for even passes; the tag after each is for odd passes.
constexpr int k_tag_request = groups::tags::k_message_transport[0];
constexpr int k_tag_piece = groups::tags::k_message_transport[2];
constexpr std::size_t k_most_buffers = 8;          // in each direction
constexpr std::size_t k_request_bytes = 64 << 10;  // requested from one owner at once if pieces travel alone
}  // namespace

MessageTransport::MessageTransport(MPI_Comm comm, std::uint64_t piece_bytes, Bytes memory, std::uint64_t open_requests,
                                   memory::Meter& meter, base::Counters& counters)
    : comm_(comm),
      most_in_(std::max<std::size_t>(1, open_requests / 2 - 1)),
      most_out_(std::max<std::size_t>(1, open_requests / 2 - std::max<std::size_t>(1, open_requests / 8))),
      most_asking_(std::max<std::size_t>(1, open_requests / 8)),
      open_(1 + most_in_ + most_out_ + most_asking_, MPI_REQUEST_NULL, memory::MeteredAllocator<MPI_Request>(meter)),
      jobs_(open_.size(), Job{}, memory::MeteredAllocator<Job>(meter)),
      free_jobs_(memory::MeteredAllocator<std::size_t>(meter)),
      completed_(open_.size(), 0, memory::MeteredAllocator<int>(meter)),
      statuses_(open_.size(), MPI_Status{}, memory::MeteredAllocator<MPI_Status>(meter)),
      buffer_bytes_(0),
      buffers_(memory::MeteredAllocator<std::byte>(meter)),
      free_in_(memory::MeteredAllocator<std::size_t>(meter)),
      free_out_(memory::MeteredAllocator<std::size_t>(meter)),
      slots_in_request_(std::clamp<std::size_t>(
          memory.count / 4 / (sizeof(std::uint64_t) * (2 * (most_asking_ + k_most_buffers) + k_queue + 1)), 1,
          k_most_slots_in_request)),
      slot_lists_((2 * (most_asking_ + k_most_buffers) + k_queue + 1) * slots_in_request_, 0,
                  memory::MeteredAllocator<std::uint64_t>(meter)),
      incoming_request_(slot_lists_.data()),
      asked_(most_asking_ + k_most_buffers, Request{}, memory::MeteredAllocator<Request>(meter)),
      free_asked_(memory::MeteredAllocator<std::size_t>(meter)),
      serving_(k_queue, Request{}, memory::MeteredAllocator<Request>(meter)),
      messages_(counters.named("message.pieces")),
      requests_(counters.named("message.requests")) {
    free_jobs_.reserve(open_.size());
    for (std::size_t job = open_.size(); job-- > 0;)
        free_jobs_.push_back(job);
    std::uint64_t* list = incoming_request_;
    for (Request& request : serving_)
        request.slots = list += slots_in_request_;
    for (Request& request : asked_) {
        request.slots = list += slots_in_request_;
        request.places = list += slots_in_request_;
    }
    free_asked_.reserve(asked_.size());
    for (std::size_t asked = asked_.size(); asked-- > 0;)
        free_asked_.push_back(asked);

    // The buffers serve small pieces only; the last pass over a block may have small ones, too.
    std::uint64_t const buffers = memory.count - memory.count / 4;
    std::uint64_t const largest_packed = std::min(piece_bytes, k_direct_bytes - 1);
    buffer_bytes_ =
        std::clamp<std::size_t>(buffers / (2 * k_most_buffers), largest_packed, largest_packed * slots_in_request_);
    std::size_t const each_way = std::clamp<std::size_t>(buffers / 2 / buffer_bytes_, 1, k_most_buffers);
    buffers_.resize(2 * each_way * buffer_bytes_);
    free_in_.reserve(each_way);
    free_out_.reserve(each_way);
    for (std::size_t buffer = 0; buffer < each_way; ++buffer) {
        free_in_.push_back(buffer);
        free_out_.push_back(each_way + buffer);
    }
}

void MessageTransport::begin_pass(Slots const& slots, std::uint64_t pass, FetchListener& listener) {
    slots_ = slots;
    pass_ = pass;
    listener_ = &listener;
}

void MessageTransport::expect(std::uint64_t slots_to_be_asked) noexcept {
    to_be_asked_ = slots_to_be_asked;
}

std::size_t MessageTransport::take_job(Kind kind, std::size_t index, std::uint64_t place) {
    std::size_t const job = free_jobs_.back();
    free_jobs_.pop_back();
    jobs_[job] = {kind, index, place};
    requests_peak_ = std::max<std::uint64_t>(requests_peak_, ++active_);
    return job;
}

std::size_t MessageTransport::room(int) {
    if (asking_ == most_asking_ || free_asked_.empty() || in_ == most_in_) return 0;
    if (direct()) {
        // Do not ask one owner for the whole window: it may be busy with other ranks, and then no data would arrive.
        std::size_t const share = std::max<std::size_t>(1, k_request_bytes / slots_.piece_bytes);
        return std::min({most_in_ - in_, slots_in_request_, share});
    }
    return free_in_.empty() ? 0 : std::min<std::size_t>(buffer_bytes_ / slots_.piece_bytes, slots_in_request_);
}

void MessageTransport::start(int peer, std::span<Fetch const> fetches) {
    std::size_t const index = free_asked_.back();
    free_asked_.pop_back();
    Request& request = asked_[index];
    request.peer = peer;
    request.count = fetches.size();
    request.next = 0;
    request.uses = 1;
    for (std::size_t i = 0; i < fetches.size(); ++i) {
        request.slots[i] = fetches[i].from;
        request.places[i] = fetches[i].for_slot;
    }

    // Receives come first, so that the pieces that we ask for find them posted.
    int const bytes = static_cast<int>(slots_.piece_bytes);
    if (direct()) {
        for (Fetch const& fetch : fetches) {
            std::size_t const job = take_job(Kind::piece_in, index, fetch.for_slot);
            ++in_;
            mpi::check(MPI_Irecv(listener_->place_for(fetch.for_slot), bytes, MPI_BYTE, peer, tag(k_tag_piece), comm_,
                                 &open_[job]),
                       "MPI_Irecv");
        }
    } else {
        request.buffer = free_in_.back();
        free_in_.pop_back();
        ++request.uses;
        std::size_t const job = take_job(Kind::packed_in, index, 0);
        ++in_;
        mpi::check(MPI_Irecv(buffers_.data() + request.buffer * buffer_bytes_, bytes * static_cast<int>(request.count),
                             MPI_BYTE, peer, tag(k_tag_piece), comm_, &open_[job]),
                   "MPI_Irecv");
    }
    std::size_t const job = take_job(Kind::request_out, index, 0);
    ++asking_;
    requests_.add();
    mpi::check(MPI_Isend(request.slots, static_cast<int>(request.count), MPI_UINT64_T, peer, tag(k_tag_request), comm_,
                         &open_[job]),
               "MPI_Isend");
}

void MessageTransport::drop_asked(std::size_t index) {
    if (--asked_[index].uses == 0) free_asked_.push_back(index);
}

void MessageTransport::post_request_receive() {
    if (request_receive_open_ || to_be_asked_ == 0 || serving_count_ == serving_.size()) return;
    std::size_t const job = take_job(Kind::request_in, 0, 0);
    request_receive_open_ = true;
    mpi::check(MPI_Irecv(incoming_request_, static_cast<int>(slots_in_request_), MPI_UINT64_T, MPI_ANY_SOURCE,
                         tag(k_tag_request), comm_, &open_[job]),
               "MPI_Irecv");
}

void MessageTransport::scatter(Request& request) {
    std::byte const* from = buffers_.data() + request.buffer * buffer_bytes_;
    for (std::size_t i = 0; i < request.count; ++i, from += slots_.piece_bytes)
        std::memcpy(listener_->place_for(request.places[i]), from, slots_.piece_bytes);
    free_in_.push_back(request.buffer);
    for (std::size_t i = 0; i < request.count; ++i)
        listener_->landed(request.places[i]);
}

void MessageTransport::finish(std::size_t job, MPI_Status const& status) {
    Job const done = jobs_[job];
    jobs_[job].kind = Kind::idle;
    free_jobs_.push_back(job);
    --active_;
    switch (done.kind) {
        case Kind::piece_in:
            --in_;
            listener_->landed(done.place);
            break;
        case Kind::packed_in:
            --in_;
            scatter(asked_[done.index]);
            drop_asked(done.index);
            break;
        case Kind::piece_out:
            --out_;
            listener_->vacated(done.place);
            break;
        case Kind::packed_out:
            --out_;
            free_out_.push_back(done.index);
            break;
        case Kind::request_out:
            --asking_;
            drop_asked(done.index);
            break;
        case Kind::request_in: {
            request_receive_open_ = false;
            int count = 0;
            mpi::check(MPI_Get_count(&status, MPI_UINT64_T, &count), "MPI_Get_count");
            Request& request = serving_[(serving_head_ + serving_count_++) % serving_.size()];
            request.peer = status.MPI_SOURCE;
            request.count = static_cast<std::size_t>(count);
            request.next = 0;
            std::copy_n(incoming_request_, request.count, request.slots);
            to_be_asked_ -= request.count;
            break;
        }
        case Kind::idle:
            break;
    }
}

bool MessageTransport::handle_completed(bool block) {
    int count = 0;
    auto const requests = static_cast<int>(open_.size());
    if (block)
        mpi::check(MPI_Waitsome(requests, open_.data(), &count, completed_.data(), statuses_.data()), "MPI_Waitsome");
    else
        mpi::check(MPI_Testsome(requests, open_.data(), &count, completed_.data(), statuses_.data()), "MPI_Testsome");
    if (count == MPI_UNDEFINED) return false;
    for (int i = 0; i < count; ++i)
        finish(static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]),
               statuses_[static_cast<std::size_t>(i)]);
    return count > 0;
}

void MessageTransport::serve_direct(Request& request) {
    std::uint64_t const slot = request.slots[request.next++];
    std::size_t const job = take_job(Kind::piece_out, 0, slot);
    ++out_;
    messages_.add();
    mpi::check(MPI_Isend(slots_.at(slot), static_cast<int>(slots_.piece_bytes), MPI_BYTE, request.peer,
                         tag(k_tag_piece), comm_, &open_[job]),
               "MPI_Isend");
}

void MessageTransport::serve_packed(Request& request) {
    std::size_t const buffer = free_out_.back();
    free_out_.pop_back();
    std::byte* const start = buffers_.data() + buffer * buffer_bytes_;
    for (std::size_t i = 0; i < request.count; ++i)
        std::memcpy(start + i * slots_.piece_bytes, slots_.at(request.slots[i]), slots_.piece_bytes);
    request.next = request.count;
    std::size_t const job = take_job(Kind::packed_out, buffer, 0);
    ++out_;
    messages_.add(request.count);
    mpi::check(MPI_Isend(start, static_cast<int>(slots_.piece_bytes * request.count), MPI_BYTE, request.peer,
                         tag(k_tag_piece), comm_, &open_[job]),
               "MPI_Isend");
}

bool MessageTransport::serve() {
    bool moved = false;
    while (serving_count_ > 0 && out_ < most_out_ && (direct() || !free_out_.empty())) {
        Request& request = serving_[serving_head_];
        bool const packed = !direct();
        if (packed)
            serve_packed(request);
        else
            serve_direct(request);
        moved = true;
        if (request.next < request.count) continue;
        serving_head_ = (serving_head_ + 1) % serving_.size();
        --serving_count_;
        // A vacated slot may start a fetch at once. The request has left the queue by now, but its text is valid until
        // overwritten.
        if (packed)
            for (std::size_t i = 0; i < request.count; ++i)
                listener_->vacated(request.slots[i]);
    }
    return moved;
}

bool MessageTransport::progress() {
    post_request_receive();
    bool const completed = active_ > 0 && handle_completed(false);
    bool const served = serve();
    return completed || served;
}

bool MessageTransport::wait() {
    return active_ > 0 && handle_completed(true);
}

}  // namespace sluice::engine
