// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/inplace_alltoall.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <optional>
#include <string>

#include "base/c_boundary.hpp"
#include "engine/patience.hpp"
#include "mpi/mpi.hpp"

namespace sluice::collectives {

namespace {

/// A rank yields its core after this many looks without result, because there may be more ranks than cores.
constexpr std::uint64_t k_looks_before_yield = 32;

[[noreturn]] void refuse_count(int rank, int member, std::int64_t count) {
    throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(rank) + ": the count for rank " +
                                                 std::to_string(member) + " is " + std::to_string(count));
}

}  // namespace

InplaceAlltoall::InplaceAlltoall(InplaceMeans const& means, groups::Members const& members, InplaceBlocks const& blocks)
    : means_(means), members_(members), blocks_(blocks) {
    requests_.fill(MPI_REQUEST_NULL);
    for (int member = 0; member < members.size; ++member)
        if (blocks.counts.at(member) < 0) refuse_count(members.rank, member, blocks.counts.at(member));
    if (blocks.types == nullptr) map_.emplace(blocks.type);
}

InplaceAlltoall::~InplaceAlltoall() {
    bool left = false;
    for (MPI_Request& request : requests_)
        if (request != MPI_REQUEST_NULL) {
            left = true;
            MPI_Cancel(&request);
            MPI_Request_free(&request);
        }
    if (left && staging_) staging_->abandon();
}

std::span<MPI_Request, PairExchange::k_requests> InplaceAlltoall::requests_of(std::size_t slot) noexcept {
    return std::span<MPI_Request, PairExchange::k_requests>(&requests_[slot * PairExchange::k_requests],
                                                            PairExchange::k_requests);
}

void InplaceAlltoall::take_staging() {
    staging_.emplace(means_.pool.take(std::max(means_.staging, k_least_staging), k_least_staging));
    std::span<std::byte> const bytes = staging_->bytes();
    report_.staging = {bytes.size()};
    std::size_t const peers = static_cast<std::size_t>(members_.size) - 1;
    std::size_t const fitting = bytes.size() / 8 * 5 / PairExchange::k_slot_bytes;
    window_ = std::max<std::size_t>(1, std::min({fitting, peers, k_most_pairs}));
    pair_means_.emplace(PairMeans{members_.comm, members_.tag, means_.peers,
                                  bytes.subspan(window_ * PairExchange::k_slot_bytes), false, report_, in_mpi_});
}

/// Takes the partner of the next round that has bytes to exchange. Returns false if no round is left.
bool InplaceAlltoall::start_next(std::size_t slot) {
    while (round_ < members_.size) {
        int const member = (round_ - members_.rank + members_.size) % members_.size;
        ++round_;
        std::int64_t const count = blocks_.counts.at(member);
        if (member == members_.rank || count == 0) continue;
        Slot& place = slots_[slot];
        if (!map_) place.own_map.emplace(blocks_.type_of(member));
        types::TypeMap const& map = map_ ? *map_ : *place.own_map;
        if (map.size() == 0) continue;
        if (!staging_) take_staging();
        place.member = member;
        place.round = round_ - 1;
        std::span<std::byte> const bytes =
            staging_->bytes().subspan(slot * PairExchange::k_slot_bytes, PairExchange::k_slot_bytes);
        ++under_way_;
        place.pair.start(*pair_means_, members_.in_comm(member), members_.rank < member, bytes, requests_of(slot), map,
                         blocks_.address_of(member, map.extent()), static_cast<std::uint64_t>(count));
        return true;
    }
    return false;
}

bool InplaceAlltoall::start_pairs() {
    bool started = false;
    for (std::size_t slot = 0; round_ < members_.size && slot < std::max<std::size_t>(window_, 1); ++slot)
        if (slots_[slot].pair.is_finished()) started = start_next(slot) || started;
    return started;
}

bool InplaceAlltoall::test_requests() {
    std::array<int, k_most_pairs * PairExchange::k_requests> which{};
    int completed = 0;
    int const used = static_cast<int>(window_ * PairExchange::k_requests);
    in_mpi_ = true;
    int const code = MPI_Testsome(used, requests_.data(), &completed, which.data(), MPI_STATUSES_IGNORE);
    in_mpi_ = false;
    mpi::check(code, "MPI_Testsome");
    return completed != MPI_UNDEFINED && completed > 0;
}

/// Grants the lane to the earliest pair that wants it, unless an earlier pair may still come to want it.
bool InplaceAlltoall::grant_lane() {
    if (in_lane_ != nullptr) return false;
    Slot* earliest = nullptr;
    for (Slot& slot : slots_)
        if ((slot.pair.is_undecided() || slot.pair.is_queued()) &&
            (earliest == nullptr || slot.round < earliest->round))
            earliest = &slot;
    if (earliest == nullptr || !earliest->pair.is_queued()) return false;
    in_lane_ = earliest;
    pair_means_->lane_is_taken = true;
    earliest->pair.grant_lane();
    return true;
}

void InplaceAlltoall::finish_pair(Slot& slot) {
    --under_way_;
    if (in_lane_ == &slot) {
        in_lane_ = nullptr;
        pair_means_->lane_is_taken = false;
    }
    if (slot.pair.other_bytes() && !fault_)
        fault_.emplace(ErrorCode::invalid_argument, "in-place all-to-all: rank " + std::to_string(slot.member) +
                                                        " has a block of " + std::to_string(*slot.pair.other_bytes()) +
                                                        " bytes for rank " + std::to_string(members_.rank) +
                                                        ", which has another size for it");
}

/// Returns true if something moved.
bool InplaceAlltoall::advance() {
    bool moved = start_pairs();
    if (under_way_ == 0) return moved;
    moved = test_requests() || moved;
    for (std::size_t i = 0; i < window_; ++i) {
        Slot& slot = slots_[i];
        if (slot.pair.is_finished()) continue;
        moved = slot.pair.step() || moved;
        if (slot.pair.is_finished()) finish_pair(slot);
    }
    return grant_lane() || moved;
}

bool InplaceAlltoall::progress() {
    if (!is_done()) advance();
    return is_done();
}

void InplaceAlltoall::finish(std::function<void()> const& look) {
    engine::Patience patience({.spins = k_looks_before_yield});
    while (!is_done()) {
        patience.after(advance());
        if (look && patience.in_vain() % k_looks_before_yield == k_looks_before_yield - 1) look();
    }
}

std::size_t InplaceAlltoall::silent_members(std::span<int, k_most_pairs> members) const noexcept {
    std::size_t count = 0;
    for (Slot const& slot : slots_)
        if (slot.pair.waits_for_entry()) members[count++] = slot.member;
    std::ranges::sort(members.first(count));
    return count;
}

int mpi_class_of(Error const& error) noexcept {
    switch (error.code()) {
        case ErrorCode::success:
            return MPI_SUCCESS;
        case ErrorCode::invalid_argument:
            return MPI_ERR_ARG;
        case ErrorCode::out_of_memory:
            return MPI_ERR_NO_MEM;
        case ErrorCode::mpi:
        case ErrorCode::unsupported:
            return MPI_ERR_OTHER;
        case ErrorCode::internal:
            break;
    }
    return MPI_ERR_INTERN;
}

int run_in_place(InplaceMeans const& means, groups::Members const& members, InplaceBlocks const& blocks,
                 AlltoallReport* report) {
    std::optional<InplaceAlltoall> call;  // outlives the try, for it knows where an exception comes from
    auto const is_ours = [&] { return !call || !call->was_left_in_mpi(); };
    try {
        call.emplace(means, members, blocks);
        call->finish();
        if (report != nullptr) *report = call->report();
        if (!call->fault()) return MPI_SUCCESS;
        base::keep_error_text(call->fault()->what());
        return MPI_ERR_TRUNCATE;
    } catch (Error const& error) {
        if (!is_ours()) throw;
        base::keep_error_text(error.what());
        return mpi_class_of(error);
    } catch (std::bad_alloc const&) {
        if (!is_ours()) throw;
        base::keep_error_text("an allocation failed");
        return MPI_ERR_NO_MEM;
    }
}

}  // namespace sluice::collectives
