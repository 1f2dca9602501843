// SPDX-License-Identifier: BSD-3-Clause
/// The in-place all-to-all: every pair of members changes blocks, a few pairs at a time, in staging of fixed size.
///
///     rounds of the tournament (members i and j meet in round (i + j) mod size)
///      0  1  2  3  4  5  6  7 …            a pair begins when a slot is free, in the order of the rounds
///           [slot][slot][slot] -> window    and proceeds when its messages do, in any order
///
///     staging   | slot | slot | … at most k_most_pairs | shared: the lane of one pair that goes by messages, bounce |
///
/// The lane is granted in the order of the rounds too: to a pair that wants it once no earlier one may still come to
/// want it.
///
/// It always ends: of all pairs that are not finished take one of the lowest round. Both its members have finished all
/// that come before it, so on both it has a slot, and the lane where it wants it: no later pair can have got it, for
/// this one was undecided or wanted it. A pair with all it needs on both sides waits for nobody else.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "collectives/inplace_blocks.hpp"
#include "collectives/pair_exchange.hpp"
#include "groups/members.hpp"
#include "memory/staging_pool.hpp"
#include "node/peer_access.hpp"
#include "sluice/collectives.hpp"
#include "sluice/error.hpp"
#include "types/datatype_pieces.hpp"

namespace sluice::collectives {

/// What calls over one communicator use in turns. Not owned; must outlive the calls.
struct InplaceMeans {
    node::PeerAccess& access;  ///< for the ranks of Members::comm
    memory::StagingPool& pool;
    Bytes staging;  ///< Settings::inplace_staging; may differ between ranks
};

/// What may happen to the datatypes of `types` before the call is done.
enum class Datatypes { stay, may_be_freed };

/// One call, driven from outside: for a nonblocking form `progress` is called whenever there is an occasion. Belongs to
/// one thread at a time. Takes its staging when it first needs some.
class InplaceAlltoall {
  public:
    /// Staging below which not one pair could be under way.
    static constexpr Bytes k_least_staging{PairExchange::k_slot_bytes + (16 << 10)};

    /// Throws Error(invalid_argument) for a negative count, Error(mpi) for an invalid datatype, with nothing sent.
    /// `blocks` refers to arrays that must stay as they are until the call is done; with Datatypes::may_be_freed a type
    /// of `types` may be freed at once (costs a handle for each rank then), the type of all blocks always.
    InplaceAlltoall(InplaceMeans const& means, groups::Members const& members, InplaceBlocks const& blocks,
                    Datatypes datatypes = Datatypes::stay);
    /// Where it is not done, MPI failed: receives are cancelled, and the staging is given up, not reused.
    ~InplaceAlltoall();
    InplaceAlltoall(InplaceAlltoall const&) = delete;
    InplaceAlltoall& operator=(InplaceAlltoall const&) = delete;

    /// Does what can be done without waiting; true when the call is done: no peer touches our blocks any more.
    bool progress();
    /// Until it is done; lets others have the core while there is nothing to do.
    void finish();
    bool is_done() const noexcept { return round_ == members_.size && under_way_ == 0; }

    /// After the end: the first pair whose blocks differ in bytes, as Error(invalid_argument).
    std::optional<Error> const& fault() const noexcept { return fault_; }
    InplaceReport const& report() const noexcept { return report_; }

  private:
    static constexpr std::size_t k_most_pairs = 7;

    struct Slot {
        PairExchange pair;
        std::optional<types::TypeMap> own_map;  // alltoallw: each pair has a type of its own
        int member = -1;
        int round = 0;
    };

    bool advance();
    bool start_pairs();
    bool start_next(std::size_t slot);
    void take_staging();
    void hold_types();
    bool test_requests();
    bool grant_lane();
    void finish_pair(Slot& slot);

    std::span<MPI_Request, PairExchange::k_requests> requests_of(std::size_t slot) noexcept;

    InplaceMeans means_;
    groups::Members members_;
    InplaceBlocks blocks_;
    InplaceReport report_;
    std::optional<types::TypeMap> map_;     // of all blocks
    std::vector<MPI_Datatype> held_types_;  // our own references to the types of `types`
    std::optional<memory::Staging> staging_;
    std::optional<PairMeans> pair_means_;
    std::size_t window_ = 0;
    Slot* in_lane_ = nullptr;
    std::array<Slot, k_most_pairs> slots_;
    std::array<MPI_Request, k_most_pairs * PairExchange::k_requests> requests_;
    int round_ = 0;      // of the tournament, that comes next
    int under_way_ = 0;  // pairs
    std::optional<Error> fault_;
};

/// The calls for whoever speaks MPI: run one to its end and give an MPI error class, MPI_SUCCESS or MPI_ERR_TRUNCATE
/// (blocks of a pair differ in bytes), MPI_ERR_ARG, MPI_ERR_NO_MEM, MPI_ERR_OTHER. The text is
/// base::last_error_text(). `report` may be null.
int run_in_place(InplaceMeans const& means, groups::Members const& members, InplaceBlocks const& blocks,
                 InplaceReport* report = nullptr) noexcept;

/// The MPI error class of an error of this library.
int mpi_class_of(Error const& error) noexcept;

/// Whether an MPI_Alltoall in place of these many bytes a pair (equal on all ranks by MPI's rules) is faster here than
/// in the MPI library. Depends on its arguments alone, so all ranks answer alike.
bool worth_serving_alltoall(std::uint64_t bytes_per_pair, int size) noexcept;

}  // namespace sluice::collectives
