// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/moving/block_stream.hpp"

#include <algorithm>

#include "groups/tags.hpp"
#include "mpi/mpi.hpp"

namespace sluice::redistribution {

namespace {
constexpr int k_stream_tag = groups::tags::k_block_stream.first;
}

// A range that reaches into the spare slot makes two segments.
BlockStream::BlockStream(MPI_Comm comm, std::size_t most_ranges, memory::Meter& meter, std::uint64_t most_bytes)
    : comm_(comm),
      most_bytes_(most_bytes),
      lengths_(most_ranges + 1, 0, memory::MeteredAllocator<int>(meter)),
      addresses_(most_ranges + 1, 0, memory::MeteredAllocator<MPI_Aint>(meter)) {}

void BlockStream::open(int partner, std::span<SlotRange const> ranges, BlockArray const& words,
                       BlockArray const& blocks) {
    open(partner, ranges, blocks);
    arrays_[1] = blocks;
    arrays_[0] = words;
    arrays_end_ = 2;
    array_ = 0;
    skip_finished_arrays();
}

void BlockStream::open(int partner, std::span<SlotRange const> ranges, BlockArray const& blocks) {
    partner_ = partner;
    ranges_ = ranges;
    arrays_[0] = blocks;
    array_ = 0;
    arrays_end_ = 1;
    range_ = 0;
    offset_ = 0;
    skip_finished_arrays();
}

void BlockStream::skip_finished_arrays() noexcept {
    while (array_ < arrays_end_) {
        while (range_ < ranges_.size() && offset_ == ranges_[range_].count * arrays_[array_].block_bytes) {
            ++range_;
            offset_ = 0;
        }
        if (range_ < ranges_.size()) return;
        ++array_;
        range_ = 0;
    }
}

void BlockStream::add_segment(std::byte* address, std::uint64_t bytes) {
    lengths_[segments_] = static_cast<int>(bytes);
    mpi::check(MPI_Get_address(address, &addresses_[segments_]), "MPI_Get_address");
    ++segments_;
}

BlockStream::Message BlockStream::next_message() {
    BlockArray const& array = arrays_[array_];
    int const array_now = array_;
    std::byte* begin = nullptr;
    segments_ = 0;
    for (std::uint64_t room = most_bytes_; room > 0 && array_ == array_now; skip_finished_arrays()) {
        std::uint64_t const at = ranges_[range_].first * array.block_bytes + offset_;
        std::uint64_t const border = array.slots * array.block_bytes;  // the spare slot is elsewhere in memory
        std::uint64_t bytes = std::min(room, ranges_[range_].count * array.block_bytes - offset_);
        if (at < border) bytes = std::min(bytes, border - at);
        std::byte* const address = at < border ? array.data + at : array.spare + (at - border);
        if (segments_ == 0) begin = address;
        add_segment(address, bytes);
        room -= bytes;
        offset_ += bytes;
    }
    if (segments_ == 1) return {begin, lengths_[0], MPI_BYTE};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    mpi::check(
        MPI_Type_create_hindexed(static_cast<int>(segments_), lengths_.data(), addresses_.data(), MPI_BYTE, &type),
        "MPI_Type_create_hindexed");
    mpi::check(MPI_Type_commit(&type), "MPI_Type_commit");
    return {MPI_BOTTOM, 1, type};
}

// The type may be freed at once: MPI keeps the parts that a posted operation needs.
void BlockStream::forget(Message& message) {
    if (message.type != MPI_BYTE) mpi::check(MPI_Type_free(&message.type), "MPI_Type_free");
}

void BlockStream::post_send(RequestWindow& window) {
    Message message = next_message();
    mpi::check(MPI_Isend(message.address, message.count, message.type, partner_, k_stream_tag, comm_, window.next()),
               "MPI_Isend");
    forget(message);
}

void BlockStream::post_receive(RequestWindow& window) {
    Message message = next_message();
    mpi::check(MPI_Irecv(message.address, message.count, message.type, partner_, k_stream_tag, comm_, window.next()),
               "MPI_Irecv");
    forget(message);
}

void post_alternating(BlockStream& incoming, BlockStream& outgoing, RequestWindow& window) {
    while (!incoming.at_end() || !outgoing.at_end()) {
        if (!incoming.at_end()) incoming.post_receive(window);
        if (!outgoing.at_end()) outgoing.post_send(window);
    }
}

}  // namespace sluice::redistribution
