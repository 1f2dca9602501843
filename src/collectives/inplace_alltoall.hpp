// SPDX-License-Identifier: BSD-3-Clause
/// The in-place all-to-all: every pair of members swaps blocks, a few pairs at once, in staging of fixed size.
///
///     rounds of the tournament (members i and j meet in round (i + j) mod size)
///      0  1  2  3  4  5  6  7 …            a pair begins when a slot is free, in the order of the rounds
///           [slot][slot][slot] -> window    and proceeds when its messages do, in any order
///
///     staging   | slot | slot | … at most k_most_pairs | shared: the lane of one pair that goes by messages, bounce |
///
/// The lane is granted in the order of the rounds too: a pair that wants it gets it once no earlier pair can still come
/// to want it.
///
/// The exchange always ends. Of all unfinished pairs take one of the lowest round. Both its members have finished all
/// earlier pairs, so on both sides it has a slot, and the lane if it wants it: no later pair can have got the lane
/// while this one was undecided or wanted it. A pair that has all it needs on both sides waits for no other rank.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "collectives/inplace_blocks.hpp"
#include "collectives/pair_exchange.hpp"
#include "groups/members.hpp"
#include "memory/staging_pool.hpp"
#include "node/remote_memory.hpp"
#include "sluice/collectives.hpp"
#include "sluice/error.hpp"
#include "types/datatype_pieces.hpp"

namespace sluice::collectives {

/// Shared by consecutive calls over one communicator. Not owned; must outlive the calls.
struct InplaceMeans {
    node::RemoteMemory& peers;  ///< the door to the memory of ranks of Members::comm
    memory::StagingPool& pool;
    Bytes staging;  ///< Settings::inplace_staging; may differ between ranks
};

/// One call. The caller drives it to its end with `finish`, or several calls at once with `progress`. One thread owns
/// it. It takes its staging when it first needs some.
class InplaceAlltoall {
  public:
    /// Pairs that are under way at once.
    static constexpr std::size_t k_most_pairs = 7;
    /// With less staging not even one pair could be under way.
    static constexpr Bytes k_least_staging{PairExchange::k_slot_bytes + (16 << 10)};

    /// Throws Error(invalid_argument) for a negative count and Error(mpi) for an invalid datatype; nothing has been
    /// sent then. The arrays of `blocks` and the datatypes of `types` must stay valid and unchanged until the call has
    /// ended; the type of all blocks may be freed at once.
    InplaceAlltoall(InplaceMeans const& means, groups::Members const& members, InplaceBlocks const& blocks);
    /// If the call has not ended, MPI failed: this cancels the receives and abandons the staging.
    ~InplaceAlltoall();
    InplaceAlltoall(InplaceAlltoall const&) = delete;
    InplaceAlltoall& operator=(InplaceAlltoall const&) = delete;

    /// Does what can be done without waiting. Returns true when the call has ended: no peer touches our blocks any
    /// more.
    bool progress();
    /// Calls `progress` until the call has ended; yields the core while there is nothing to do, and calls `look` now
    /// and then.
    void finish(std::function<void()> const& look = {});
    /// The members from which nothing has come, of the pairs that have begun here. Fills the beginning of `members`, by
    /// rank, and returns their number.
    std::size_t silent_members(std::span<int, k_most_pairs> members) const noexcept;
    bool is_done() const noexcept { return round_ == members_.size && under_way_ == 0; }

    /// After the end: an Error(invalid_argument) for the first pair whose blocks differ in bytes.
    std::optional<Error> const& fault() const noexcept { return fault_; }
    AlltoallReport const& report() const noexcept { return report_; }
    /// An exception came out of MPI: it is one of the program's, of an operation or an error handler.
    bool was_left_in_mpi() const noexcept { return in_mpi_; }

  private:
    struct Slot {
        PairExchange pair;
        std::optional<types::TypeMap> own_map;  // alltoallw: each pair has its own type
        int member = -1;
        int round = 0;
    };

    bool advance();
    bool start_pairs();
    bool start_next(std::size_t slot);
    void take_staging();
    bool test_requests();
    bool grant_lane();
    void finish_pair(Slot& slot);

    std::span<MPI_Request, PairExchange::k_requests> requests_of(std::size_t slot) noexcept;

    InplaceMeans means_;
    groups::Members members_;
    InplaceBlocks blocks_;
    AlltoallReport report_;
    std::optional<types::TypeMap> map_;  // the map of all blocks, if they have one type
    std::optional<memory::Staging> staging_;
    std::optional<PairMeans> pair_means_;
    std::size_t window_ = 0;
    Slot* in_lane_ = nullptr;
    std::array<Slot, k_most_pairs> slots_;
    std::array<MPI_Request, k_most_pairs * PairExchange::k_requests> requests_;
    int round_ = 0;      // the next round of the tournament
    int under_way_ = 0;  // pairs that have begun and not ended
    std::optional<Error> fault_;
    bool in_mpi_ = false;
};

/// The calls for MPI interfaces: each runs one call to its end and returns an MPI error class, MPI_SUCCESS or
/// MPI_ERR_TRUNCATE (the blocks of a pair differ in bytes), MPI_ERR_ARG, MPI_ERR_NO_MEM, MPI_ERR_OTHER. The text is
/// base::last_error_text(). `report` may be null. Throws only what functions of the program throw
/// that MPI runs meanwhile.
int run_in_place(InplaceMeans const& means, groups::Members const& members, InplaceBlocks const& blocks,
                 AlltoallReport* report = nullptr);

/// The MPI error class of an error of this library.
int mpi_class_of(Error const& error) noexcept;

/// Whether an MPI_Alltoall in place of `bytes_per_pair` (equal on all ranks by MPI's rules) is faster here than in the
/// MPI library. Depends only on its arguments, so all ranks get the same answer.
bool worth_serving_alltoall(std::uint64_t bytes_per_pair, int size) noexcept;

}  // namespace sluice::collectives
