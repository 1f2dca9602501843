// SPDX-License-Identifier: BSD-3-Clause
/// Bounds how far a member of a communicator runs ahead in rooted collectives: the root of MPI_Bcast and MPI_Scatter,
/// the leaves of MPI_Reduce and MPI_Gather. What Open MPI's coll/sync does by barriers every so many calls:
///
///     bcast bcast … bcast ── MPI_Ibarrier ── bcast … bcast ── wait for it ── the next MPI_Ibarrier ── …
///                 spacing                       spacing
///
/// A member that is less than one spacing ahead never waits. The members agree without a word when a barrier begins,
/// since the bytes of a rooted call are the same on all of them by its signature. Counts that differ between members
/// (MPI_Gatherv) are known to the root alone: such a call counts the same whatever its bytes.
///
/// Communicators have an entry each, found by the id that their members agreed on; those with larger ids than there are
/// entries are left alone by all members.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "plugin/services/flood/eager_limit.hpp"
#include "plugin/services/flood/hold_rule.hpp"
#include "plugin/tables/memory.hpp"

namespace sluice::plugin {

class Communicators;

class RootedCalls {
  public:
    struct Counts {
        std::uint64_t& barriers;
        std::uint64_t& let_go;
    };
    /// Throws std::bad_alloc.
    RootedCalls(Budget const& budget, Communicators& communicators, std::uint64_t spacing, HoldRule::Duration hold,
                Counts counts);

    /// A member has done a call of so many bytes to or from each member, the same number on all of them.
    void did(MPI_Comm comm, std::uint64_t bytes);
    /// A call whose bytes differ.
    void did_vector(MPI_Comm comm) { did(comm, k_cost_of_vectors); }
    /// All members are about to free it.
    void before_free(MPI_Comm comm);
    /// Asks MPI about all; true if none is open.
    bool sweep();
    HoldRule::Duration hold() const noexcept { return hold_; }

  private:
    struct Entry {
        std::uint64_t bytes = 0;
        MPI_Request barrier = MPI_REQUEST_NULL;
    };
    static constexpr std::uint32_t k_entries = 4096;
    static constexpr std::size_t k_most_let_go = 64;
    static constexpr std::uint64_t k_cost_of_vectors = 2048;

    Entry* entry_of(MPI_Comm comm) noexcept;
    void wait(MPI_Request& barrier);
    MPI_Request* place();

    Communicators& communicators_;
    std::uint64_t spacing_;
    HoldRule::Duration hold_;
    Counts counts_;
    Memory memory_;
    Entry* entries_;
    std::uint32_t used_ = 0;  // no entry beyond it was used
    std::array<MPI_Request, k_most_let_go> let_go_{};
};

}  // namespace sluice::plugin
