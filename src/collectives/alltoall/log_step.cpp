// SPDX-License-Identifier: BSD-3-Clause
/// Small blocks of equal bytes in log2(ranks) steps (J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal and D. Weathersby,
/// "Efficient Algorithms for All-to-All Communications in Multiport Message-Passing Systems", 1997, section 3):
///
///     bundle    | block for me | for me + 1 | for me + 2 | …      entry i has to travel i ranks up
///     step k    entries with bit k ──> rank me + 2^k; those of rank me - 2^k take their place
///     at last   entry i came from rank me - i
///
/// In each step a rank has one message under way in each direction, of at most half of the entries. All of it is on the
/// stack, so no rank can lack the memory when the others have begun.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "collectives/alltoall/algorithm.hpp"
#include "collectives/alltoall/own_block.hpp"
#include "engine/patience.hpp"
#include "groups/tags.hpp"
#include "mpi/mpi.hpp"

namespace sluice::collectives {

namespace {

class LogStep {
  public:
    LogStep(Problem const& problem, AlltoallOutcome& outcome)
        : problem_(problem), outcome_(outcome), maps_(maps_if_possible(problem)), bytes_(problem.bytes_to(0)) {
        std::span<std::byte> const room(staging_);
        outcome.staging = Bytes{log_step_staging(problem.size, bytes_)};
        auto const ranks = static_cast<std::size_t>(problem.size);
        std::size_t const half = (ranks + 1) / 2 * bytes_;
        bundle_ = room.first(ranks * bytes_);
        out_ = room.subspan(ranks * bytes_, half);
        in_ = room.subspan(ranks * bytes_ + half, half);
    }
    LogStep(LogStep const&) = delete;
    LogStep& operator=(LogStep const&) = delete;
    /// If MPI failed, cancels what is open, and waits: the messages are on the stack.
    ~LogStep() {
        for (MPI_Request& request : requests_)
            if (request != MPI_REQUEST_NULL) {
                MPI_Cancel(&request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            }
    }

    void run() {
        take_blocks();
        for (int distance = 1; distance < problem_.size; distance *= 2)
            step(distance);
        give_blocks();
    }

  private:
    int at(int distance) const noexcept { return (problem_.rank + distance + problem_.size) % problem_.size; }
    std::span<std::byte> entry(int i) const noexcept {
        return bundle_.subspan(static_cast<std::size_t>(i) * bytes_, bytes_);
    }

    void take_blocks() {
        for (int i = 1; i < problem_.size; ++i)
            if (!take_pieces(i)) take_by_mpi(i);
        copy_own_block(problem_, outcome_);
    }
    void give_blocks() {
        for (int i = 1; i < problem_.size; ++i)
            if (!give_pieces(i)) give_by_mpi(i);
    }

    /// Without memory for the pieces of the types these return false.
    bool take_pieces(int i) try {
        if (!maps_) return false;
        types::PieceCursor block(maps_->from, problem_.from.address_of(at(i), problem_.from_extent),
                                 static_cast<std::uint64_t>(problem_.from.counts.at(0)));
        types::pack(block, entry(i));
        return true;
    } catch (std::bad_alloc const&) {
        return false;
    }
    bool give_pieces(int i) try {
        if (!maps_) return false;
        types::PieceCursor block(maps_->to, problem_.to.address_of(at(-i), problem_.to_extent),
                                 static_cast<std::uint64_t>(problem_.to.counts.at(0)));
        types::unpack(entry(i), block);
        return true;
    } catch (std::bad_alloc const&) {
        return false;
    }

    /// Then MPI packs, to the same bytes: both MPIs pack native numbers one after the other.
    void take_by_mpi(int i) {
        int end = 0;
        mpi::check(MPI_Pack(problem_.from.address_of(at(i), problem_.from_extent),
                            static_cast<int>(problem_.from.counts.at(0)), problem_.from.type, entry(i).data(),
                            static_cast<int>(bytes_), &end, problem_.comm),
                   "MPI_Pack");
    }
    void give_by_mpi(int i) {
        int end = 0;
        mpi::check(MPI_Unpack(entry(i).data(), static_cast<int>(bytes_), &end,
                              problem_.to.address_of(at(-i), problem_.to_extent),
                              static_cast<int>(problem_.to.counts.at(0)), problem_.to.type, problem_.comm),
                   "MPI_Unpack");
    }

    void step(int distance) {
        std::size_t packed = 0;
        for (int i = distance; i < problem_.size; ++i)
            if ((i & distance) != 0) {
                std::memcpy(&out_[packed], entry(i).data(), bytes_);
                packed += bytes_;
            }
        trade(distance, packed);
        std::size_t unpacked = 0;
        for (int i = distance; i < problem_.size; ++i)
            if ((i & distance) != 0) {
                std::memcpy(entry(i).data(), &in_[unpacked], bytes_);
                unpacked += bytes_;
            }
    }
    void trade(int distance, std::size_t bytes) {
        int const tag = groups::tags::k_alltoalls[0];
        mpi::check(
            MPI_Irecv(in_.data(), static_cast<int>(bytes), MPI_BYTE, at(-distance), tag, problem_.comm, &requests_[0]),
            "MPI_Irecv");
        mpi::check(
            MPI_Isend(out_.data(), static_cast<int>(bytes), MPI_BYTE, at(distance), tag, problem_.comm, &requests_[1]),
            "MPI_Isend");
        ++outcome_.messages;
        outcome_.most_under_way = 1;
        engine::Patience patience({.spins = problem_.spins});
        for (int done = 0;;) {
            mpi::check(MPI_Testall(2, requests_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
            if (done != 0) return;
            patience.after(false);
            if (patience.in_vain() % k_looks_in_vain == 0)
                problem_.look([&] { return std::vector{at(-distance), at(distance)}; });
        }
    }

    Problem const& problem_;
    AlltoallOutcome& outcome_;
    std::optional<BothMaps> maps_;
    std::uint64_t bytes_;
    std::array<std::byte, k_most_log_step> staging_;
    std::span<std::byte> bundle_;
    std::span<std::byte> out_;
    std::span<std::byte> in_;
    std::array<MPI_Request, 2> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace

void run_log_step(Problem const& problem, AlltoallOutcome& outcome) {
    if (problem.bytes_to(0) == 0) return;
    LogStep(problem, outcome).run();
}

}  // namespace sluice::collectives
