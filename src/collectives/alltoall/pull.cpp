// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/alltoall/pull.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <limits>
#include <new>

#include "collectives/alltoall/block_message.hpp"
#include "engine/patience.hpp"
#include "groups/tags.hpp"
#include "mpi/mpi.hpp"

namespace sluice::collectives {

namespace {

constexpr int k_block_tag = groups::tags::k_alltoalls[0];
constexpr int k_offer_tag = groups::tags::k_alltoalls[1];
constexpr int k_answer_tag = groups::tags::k_alltoalls[2];

/// The bytes of the largest message that is sent unless reads fail: an offer is one.
std::uint64_t largest_message(Problem const& problem, std::uint64_t offer) noexcept {
    std::uint64_t most = offer;
    for (int member = 0; member < problem.size; ++member)
        for (std::uint64_t const bytes : {problem.bytes_to(member), problem.bytes_from(member)})
            if (bytes < k_pulled_from && member != problem.rank) most = std::max(most, bytes);
    return most;
}

}  // namespace

Pull::Pull(Problem const& problem, AlltoallOutcome& outcome)
    : problem_(problem),
      outcome_(outcome),
      maps_(maps_if_possible(problem)),
      tokens_(problem, largest_message(problem, sizeof(Offer))) {
    requests_.fill(MPI_REQUEST_NULL);
}

Pull::~Pull() {
    for (MPI_Request& request : requests_)
        if (request != MPI_REQUEST_NULL) {
            MPI_Cancel(&request);
            MPI_Request_free(&request);
        }
}

void Pull::run() {
    start();
    bool kept = false;
    engine::Patience patience({.spins = problem_.spins});
    while (under_way_ > 0 || !kept) {
        bool moved = test();
        if (moved) start();
        // The own block is copied while offers travel.
        if (!moved && !kept) {
            copy_own_block(problem_, outcome_);
            kept = moved = true;
        }
        patience.after(moved);
        if (patience.in_vain() % k_looks_in_vain == k_looks_in_vain - 1) problem_.look([this] { return under_way(); });
    }
}

std::vector<int> Pull::under_way() const {
    std::vector<int> members;
    for (std::size_t transfer = 0; transfer < transfers_.size(); ++transfer)
        if (!is_idle(transfer)) members.push_back(transfers_[transfer].member);
    return members;
}

void Pull::start() {
    for (std::size_t token = 0; token < tokens_.count(); ++token) {
        for (; is_idle(2 * token) && next_in_ < problem_.size; ++next_in_)
            start_in(2 * token, (problem_.rank - next_in_ + problem_.size) % problem_.size);
        for (; is_idle(2 * token + 1) && next_out_ < problem_.size; ++next_out_)
            start_out(2 * token + 1, (problem_.rank + next_out_) % problem_.size);
    }
    outcome_.most_under_way = std::min<std::uint64_t>(tokens_.count(), static_cast<std::uint64_t>(problem_.size) - 1);
}

void Pull::start_in(std::size_t transfer, int member) {
    std::uint64_t const bytes = problem_.bytes_from(member);
    if (bytes == 0) return;
    Transfer& in = transfers_[transfer];
    MPI_Request& request = requests_of(transfer)[0];
    in.member = member;
    ++under_way_;
    if (bytes < k_pulled_from) {
        in.stage = Stage::block;
        return receive_block(problem_, member, k_block_tag, request);
    }
    in.stage = Stage::offer;
    mpi::check(MPI_Irecv(&in.offer, sizeof in.offer, MPI_BYTE, member, k_offer_tag, problem_.comm, &request),
               "MPI_Irecv");
}

void Pull::start_out(std::size_t transfer, int member) {
    std::uint64_t const bytes = problem_.bytes_to(member);
    if (bytes == 0) return;
    Transfer& out = transfers_[transfer];
    auto const requests = requests_of(transfer);
    out.member = member;
    ++under_way_;
    if (bytes < k_pulled_from) {
        out.stage = Stage::block;
        ++outcome_.messages;
        return send_block(problem_, member, k_block_tag, requests[0]);
    }
    out.offer = {problem_.peers->card(), address_of_block(member), bytes};
    bool const is_offered = out.offer.address != 0;
    mpi::check(MPI_Isend(&out.offer, sizeof out.offer, MPI_BYTE, member, k_offer_tag, problem_.comm, &requests[0]),
               "MPI_Isend");
    if (is_offered) {
        out.stage = Stage::offer;
        mpi::check(
            MPI_Irecv(&out.answer, sizeof out.answer, MPI_BYTE, member, k_answer_tag, problem_.comm, &requests[1]),
            "MPI_Irecv");
    } else {
        out.stage = Stage::block;
        ++outcome_.messages;
        send_block(problem_, member, k_block_tag, requests[1]);
    }
}

/// Of a block that `member` may read; 0 if it must be sent.
std::uint64_t Pull::address_of_block(int member) const {
    if (!maps_ || !problem_.peers->may_reach(member)) return 0;
    try {
        types::PieceCursor const block(maps_->from, problem_.from.address_of(member, maps_->from.extent()),
                                       static_cast<std::uint64_t>(problem_.from.counts.at(member)));
        return block.is_contiguous() ? reinterpret_cast<std::uintptr_t>(block.first()) : 0;
    } catch (std::bad_alloc const&) {
        return 0;
    }
}

bool Pull::test() {
    std::array<int, 4 * Tokens::k_most> which;
    int completed = 0;
    mpi::check(MPI_Testsome(static_cast<int>(4 * tokens_.count()), requests_.data(), &completed, which.data(),
                            MPI_STATUSES_IGNORE),
               "MPI_Testsome");
    if (completed == MPI_UNDEFINED || completed == 0) return false;
    for (std::size_t transfer = 0; transfer < 2 * tokens_.count(); ++transfer) {
        auto const requests = requests_of(transfer);
        if (is_idle(transfer) || requests[0] != MPI_REQUEST_NULL || requests[1] != MPI_REQUEST_NULL) continue;
        bool const is_done = transfer % 2 == 0 ? step_in(transfer) : step_out(transfer);
        if (!is_done) continue;
        transfers_[transfer].stage = Stage::idle;
        --under_way_;
    }
    return true;
}

/// Returns true if the block has come, and its sender knows.
bool Pull::step_in(std::size_t transfer) {
    Transfer& in = transfers_[transfer];
    if (in.stage != Stage::offer) return in.stage == Stage::block || in.answer == Answer::taken;
    MPI_Request& request = requests_of(transfer)[0];
    if (in.offer.address == 0) {
        in.stage = Stage::block;
        receive_block(problem_, in.member, k_block_tag, request);
        return false;
    }
    bool const is_read = read(in);
    in.answer = is_read ? Answer::taken : Answer::send_it;
    in.stage = is_read ? Stage::answer : Stage::block;
    auto const requests = requests_of(transfer);
    mpi::check(MPI_Isend(&in.answer, sizeof in.answer, MPI_BYTE, in.member, k_answer_tag, problem_.comm, &requests[1]),
               "MPI_Isend");
    if (is_read) {
        ++outcome_.pulled;
    } else {
        ++outcome_.lost;
        receive_block(problem_, in.member, k_block_tag, request);
    }
    return false;
}

/// Returns true if the block has left.
bool Pull::step_out(std::size_t transfer) {
    Transfer& out = transfers_[transfer];
    if (out.stage == Stage::block || out.answer == Answer::taken) return true;
    problem_.peers->refuse(out.member);
    out.stage = Stage::block;
    ++outcome_.messages;
    send_block(problem_, out.member, k_block_tag, requests_of(transfer)[0]);
    return false;
}

/// Reads an offered block into its place. Returns false if it must come in a message.
bool Pull::read(Transfer const& from) {
    if (from.offer.bytes != problem_.bytes_from(from.member)) return false;  // the message tells MPI's error
    node::Remote const place =
        problem_.peers->reach(from.member, from.offer.card, node::Touch::read).at(from.offer.address);
    try {
        if (!maps_) return false;
        if (place && read_pieces(from, place)) return true;
    } catch (std::bad_alloc const&) {
        return false;
    }
    problem_.peers->refuse(from.member);
    return false;
}

bool Pull::read_pieces(Transfer const& from, node::Remote const& place) {
    types::PieceCursor block(maps_->to, problem_.to.address_of(from.member, maps_->to.extent()),
                             static_cast<std::uint64_t>(problem_.to.counts.at(from.member)));
    if (block.is_contiguous()) return place.read({block.first(), block.size()}) == block.size();
    for (std::uint64_t done = 0; done < block.size();) {
        std::array<iovec, 256> pieces;
        std::size_t count = 0;
        std::uint64_t bytes = 0;
        for (; count < pieces.size() && done + bytes < block.size(); ++count) {
            types::Piece const piece = block.next(block.size());
            pieces[count] = {piece.address, piece.bytes};
            bytes += piece.bytes;
        }
        iovec theirs{reinterpret_cast<void*>(static_cast<std::uintptr_t>(from.offer.address + done)), bytes};
        if (!place.read_pieces(std::span(pieces).first(count), {&theirs, 1})) return false;
        done += bytes;
    }
    return true;
}

void run_pull(Problem const& problem, AlltoallOutcome& outcome) {
    Pull(problem, outcome).run();
}

}  // namespace sluice::collectives
