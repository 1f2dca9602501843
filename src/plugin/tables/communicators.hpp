// SPDX-License-Identifier: BSD-3-Clause
/// The communicators of the program: a record of constant size for each, and an id that its members agree on when it is
/// made. After Geimer, Hermanns, Siebert, Wolf, Wylie: Scaling Performance Tool MPI Communicator Management (EuroMPI
/// 2011), whose record per communicator and process it is; members are kept as first + i·stride instead of a list. The
/// number of a communicator is agreed instead of counted by its rank 0, because it serves as a tag as well; ids without
/// gaps are made of them by prefix sums at the end (report/summary.hpp).
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "groups/rank_map.hpp"
#include "memory/leased.hpp"
#include "record/record.hpp"

namespace sluice::plugin {

/// A communicator as we know it.
struct Known {
    int size = 0;
    int rank = 0;
    groups::StridedRanks ranks{0, 0};  ///< of the world
    std::uint32_t id = 0;  ///< unlike that of any other communicator that shares a member with it; 0: none was agreed
    std::uint32_t entry = record::k_comms;  ///< in the record; k_comms: it found no room
    int remote = 0;                         ///< size of the other group of an intercommunicator, whose `size` is 0 here
    int sources = 0;                        ///< neighbours in a topology that send to this rank
    int targets = 0;                        ///< neighbours that it sends to
    std::uint64_t no_neighbours = 0;        ///< a bit for each of the first 64 of both that is MPI_PROC_NULL
    std::uint32_t serial = 0;               ///< of the making: MPI gives the handle of a freed communicator again
};

/// Sizes, rank and neighbours of a valid communicator, as MPI says.
Known shape_from_mpi(MPI_Comm comm) noexcept;

class Communicators {
  public:
    /// `budget`: the memory of a communicator that is known is leased.
    Communicators(record::RankRecord& record, Budget const& budget)
        : record_(record), known_(memory::LeasedAllocator<Entry>(budget)) {}

    /// What the ranks of the job can do together.
    struct Terms {
        bool reports = false;     ///< the records of all ranks come together in one report
        bool may_agree = false;   ///< every rank of the job watches calls: members agree on a communicator's name
        bool one_thread = false;  ///< and on an id for its traffic; with MPI_THREAD_MULTIPLE two threads could get one
    };
    /// MPI_COMM_WORLD and MPI_COMM_SELF.
    void start(int world_rank, int world_size, Terms terms);

    /// Collective over `made`, which the program has just got: nothing else can be on it yet.
    void add(MPI_Comm made, std::uint32_t site, std::uint64_t memory, std::uint64_t now_us);
    /// A communicator was freed, of which find() gave `known` before: MPI may refuse it, and then all stays as it is.
    void remove(MPI_Comm comm, Known const& known, std::uint64_t now_us) noexcept;

    /// The record, or one of sizes 0 for what we do not know (what was made behind our back). Asks no MPI.
    Known find(MPI_Comm comm) noexcept;
    /// World rank of `rank` in `comm`, or −1.
    int world_rank(MPI_Comm comm, int rank) noexcept;
    /// World ranks of up to 256 members from `begin` on; their number, 0 where they are not known.
    int members(MPI_Comm comm, Known const& known, int begin, std::array<int, 256>& ranks) noexcept;
    /// This rank has so many bytes for each other member. False where the record has no place for that: members that
    /// follow no rule, or too many communicators.
    bool add_to_each(MPI_Comm comm, std::uint64_t bytes) noexcept;

  private:
    std::uint32_t agree(MPI_Comm made, Known& known);
    void enter(Known& known, std::uint32_t number, std::uint32_t site, std::uint64_t memory,
               std::uint64_t now_us) noexcept;
    void keep(MPI_Comm comm, Known known) noexcept;

    record::RankRecord& record_;
    Terms terms_;
    std::uint32_t next_id_ = 1;      // the least that is new to this rank
    std::uint32_t next_number_ = 1;  // where there is no id to number by
    std::uint32_t next_serial_ = 1;
    std::mutex changing_;
    using Entry = std::pair<std::uint64_t const, Known>;
    std::unordered_map<std::uint64_t, Known, std::hash<std::uint64_t>, std::equal_to<>, memory::LeasedAllocator<Entry>>
        known_;
    std::uint64_t last_key_ = 0;  // the one that was asked for last, mostly asked for again
    Known last_;
};

}  // namespace sluice::plugin
