// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/pair_exchange.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/mpi.hpp"

namespace sluice::collectives {

namespace {

constexpr std::uint32_t k_dense = 1;     // the block is contiguous
constexpr std::uint32_t k_possible = 2;  // its owner may read and write the peer's memory, as far as it knows
constexpr std::uint32_t k_proven = 4;    // its owner has proven that in an earlier call

/// Returns the bytes of the first part of a block, which the lower rank of the pair serves.
std::uint64_t lower_part(std::uint64_t bytes) {
    constexpr std::uint64_t k_line = 64;
    return bytes / 2 / k_line * k_line;
}

/// The bytes of a chunk: an area holds two chunks for sending and two for receiving.
std::size_t chunk_of(std::span<std::byte> area) {
    constexpr std::size_t k_line = 64;
    return area.size() / 4 / k_line * k_line;
}

}  // namespace

void PairExchange::start(PairMeans& means, int peer, bool is_lower, std::span<std::byte> slot,
                         std::span<MPI_Request, k_requests> requests, types::TypeMap const& map, void* buffer,
                         std::uint64_t count) {
    means_ = &means;
    peer_ = peer;
    is_lower_ = is_lower;
    slot_ = slot;
    area_ = slot;
    requests_ = requests;
    packing_.emplace(map, buffer, count);
    unpacking_.emplace(map, buffer, count);
    bytes_ = packing_->size();
    other_bytes_.reset();
    send_entry();
}

bool PairExchange::are_complete(std::size_t first, std::size_t count) const noexcept {
    return std::all_of(requests_.begin() + static_cast<std::ptrdiff_t>(first),
                       requests_.begin() + static_cast<std::ptrdiff_t>(first + count),
                       [](MPI_Request request) { return request == MPI_REQUEST_NULL; });
}

void PairExchange::send(std::size_t request, void const* from, std::size_t bytes) {
    means_->in_mpi = true;
    int const code =
        MPI_Isend(from, static_cast<int>(bytes), MPI_BYTE, peer_, means_->tag, means_->comm, &requests_[request]);
    means_->in_mpi = false;
    mpi::check(code, "MPI_Isend");
}

void PairExchange::receive(std::size_t request, void* to, std::size_t bytes) {
    means_->in_mpi = true;
    int const code =
        MPI_Irecv(to, static_cast<int>(bytes), MPI_BYTE, peer_, means_->tag, means_->comm, &requests_[request]);
    means_->in_mpi = false;
    mpi::check(code, "MPI_Irecv");
}

void PairExchange::trade_word(std::uint64_t word) {
    word_out_ = word;
    receive(1, &word_in_, sizeof word_in_);
    send(0, &word_out_, sizeof word_out_);
}

std::span<std::byte> PairExchange::out(std::size_t lane) const noexcept {
    return area_.first(area_.size() / 2).subspan(lane * chunk_);
}

std::span<std::byte> PairExchange::in(std::size_t lane) const noexcept {
    return area_.subspan(area_.size() / 2).subspan(lane * chunk_);
}

bool PairExchange::step() {
    switch (state_) {
        case State::entry:
            if (!are_complete(0, 2)) return false;
            read_entry();
            return true;
        case State::proof:
            if (!are_complete(0, 2)) return false;
            read_proof();
            return true;
        case State::swap:
            swap_some();
            return true;
        case State::settle:
            if (!are_complete(0, 2)) return false;
            read_settlement();
            return true;
        case State::staged:
            return move_chunks();
        case State::queued:
        case State::finished:
            break;
    }
    return false;
}

void PairExchange::send_entry() {
    chunk_ = 0;
    node::RemoteMemory const& peers = means_->peers;
    flags_ = packing_->is_contiguous() ? k_dense : 0;
    if (peers.may_reach(peer_)) flags_ |= k_possible;
    if (peers.has_reached(peer_)) flags_ |= k_proven;
    PairEntry const mine{bytes_, reinterpret_cast<std::uintptr_t>(packing_->first()), peers.card(),
                         static_cast<std::uint32_t>(chunk_of(means_->lane())), flags_};
    std::memcpy(out(0).data(), &mine, sizeof mine);
    std::size_t const along = bytes_ <= k_small ? bytes_ : 0;
    types::pack(*packing_, out(0).subspan(sizeof mine, along));
    receive(1, in(0).data(), sizeof mine + k_small);
    send(0, out(0).data(), sizeof mine + along);
    state_ = State::entry;
}

void PairExchange::read_entry() {
    std::memcpy(&theirs_, in(0).data(), sizeof theirs_);
    state_ = State::finished;
    if (theirs_.bytes != bytes_) {
        other_bytes_ = theirs_.bytes;
        return;
    }
    means_->report.exchanged += Bytes{bytes_};
    if (bytes_ <= k_small) {
        types::unpack(in(0).subspan(sizeof theirs_, bytes_), *unpacking_);
        ++means_->report.pairs_small;
        return;
    }
    std::uint32_t const both = flags_ & theirs_.flags;
    if ((both & k_dense) == 0 || (both & k_possible) == 0 || !means_->peers.shares_node(theirs_.card))
        state_ = State::queued;
    else if ((both & k_proven) != 0)
        begin_swap();
    else
        prove_access();
}

void PairExchange::prove_access() {
    trade_word(means_->peers.reach(peer_, theirs_.card, node::Touch::write) ? 1 : 0);
    state_ = State::proof;
}

void PairExchange::read_proof() {
    if (word_out_ != 0 && word_in_ != 0) {
        begin_swap();
        return;
    }
    means_->peers.refuse(peer_);
    state_ = State::queued;
}

void PairExchange::begin_swap() {
    std::uint64_t const middle = lower_part(bytes_);
    mine_ = is_lower_ ? Range{0, middle} : Range{middle, bytes_};
    swapped_ = 0;
    their_block_ = means_->peers.reach(peer_, theirs_.card, node::Touch::write).at(theirs_.address);
    ++means_->report.pairs_swapped;
    state_ = State::swap;
}

void PairExchange::swap_some() {
    std::uint64_t const at = mine_.begin + swapped_;
    std::span<std::byte> const bounce = means_->bounce();
    std::size_t const bytes = std::min<std::uint64_t>(bounce.size(), mine_.end - at);
    std::size_t const done = their_block_.at(theirs_.address + at).swap({packing_->first() + at, bytes}, bounce);
    swapped_ += done;
    if (done == bytes && mine_.begin + swapped_ < mine_.end) return;
    trade_word(swapped_);
    state_ = State::settle;
}

void PairExchange::read_settlement() {
    std::uint64_t const middle = lower_part(bytes_);
    std::uint64_t const low = is_lower_ ? swapped_ : word_in_;
    std::uint64_t const high = is_lower_ ? word_in_ : swapped_;
    if (low == middle && middle + high == bytes_) {
        state_ = State::finished;
        return;
    }
    means_->peers.refuse(peer_);
    ++means_->report.pairs_lost;
    begin_staged(slot_, chunk_of(slot_), {low, middle}, {middle + high, bytes_});
}

void PairExchange::grant_lane() {
    std::span<std::byte> const lane = means_->lane();
    begin_staged(lane, std::min<std::size_t>(chunk_of(lane), theirs_.chunk), {0, bytes_}, {bytes_, bytes_});
}

void PairExchange::begin_staged(std::span<std::byte> area, std::size_t chunk, Range first, Range second) {
    area_ = area;
    chunk_ = chunk;
    to_post_ = {first, second};
    under_way_ = {};
    lane_ = 0;
    ++means_->report.pairs_staged;
    state_ = State::staged;
    post_chunk(0);
    post_chunk(1);
}

/// Packs and posts the next chunk, if there is one.
void PairExchange::post_chunk(std::size_t lane) {
    Range& from = to_post_[0].begin < to_post_[0].end ? to_post_[0] : to_post_[1];
    Range const chunk{from.begin, std::min(from.end, from.begin + chunk_)};
    under_way_[lane] = chunk;
    from.begin = chunk.end;
    std::size_t const bytes = chunk.end - chunk.begin;
    if (bytes == 0) return;
    receive(2 * lane + 1, in(lane).data(), bytes);
    if (packing_->is_contiguous()) {
        // The chunk stays unchanged until it has been sent: it is reused only when both requests are complete.
        send(2 * lane, packing_->first() + chunk.begin, bytes);
    } else {
        types::pack(*packing_, out(lane).first(bytes));
        send(2 * lane, out(lane).data(), bytes);
    }
}

bool PairExchange::move_chunks() {
    bool moved = false;
    while (state_ == State::staged && are_complete(2 * lane_, 2)) {
        Range const chunk = under_way_[lane_];
        std::size_t const bytes = chunk.end - chunk.begin;
        if (bytes == 0) {
            state_ = State::finished;
        } else if (packing_->is_contiguous()) {
            std::memcpy(packing_->first() + chunk.begin, in(lane_).data(), bytes);
        } else {
            types::unpack(in(lane_).first(bytes), *unpacking_);
        }
        post_chunk(lane_);
        lane_ = 1 - lane_;
        moved = true;
    }
    return moved;
}

}  // namespace sluice::collectives
