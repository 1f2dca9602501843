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
};

class Communicators {
  public:
    /// `budget`: the memory of a communicator that is known is leased.
    Communicators(record::RankRecord& record, Budget const& budget)
        : record_(record), known_(memory::LeasedAllocator<Entry>(budget)) {}

    /// MPI_COMM_WORLD and MPI_COMM_SELF. `may_agree`: every rank of the job runs under us, so that members can agree on
    /// the name of a communicator; with `one_thread` on an id for its traffic, too (with MPI_THREAD_MULTIPLE two
    /// threads could be given the same).
    void start(int world_rank, int world_size, bool may_agree, bool one_thread);

    /// Collective over `made`, which the program has just got: nothing else can be on it yet.
    void add(MPI_Comm made, std::uint32_t site, std::uint64_t memory, std::uint64_t now_us) noexcept;
    void remove(MPI_Comm comm, std::uint64_t now_us) noexcept;

    /// The record, or one of size 0 for what we do not know (intercommunicators, what was made behind our back).
    Known find(MPI_Comm comm) noexcept;
    /// World rank of `rank` in `comm`, or −1.
    int world_rank(MPI_Comm comm, int rank) noexcept;
    /// World ranks of up to 256 members from `begin` on; their number, 0 where they are not known.
    int members(MPI_Comm comm, Known const& known, int begin, std::array<int, 256>& ranks) noexcept;
    /// This rank has so many bytes for each other member. False where the record has no place for that: members that
    /// follow no rule, or too many communicators.
    bool add_to_each(MPI_Comm comm, std::uint64_t bytes) noexcept;

  private:
    std::uint32_t agree(MPI_Comm made, Known& known) noexcept;
    void keep(MPI_Comm comm, Known known, std::uint32_t number, std::uint32_t site, std::uint64_t memory,
              std::uint64_t now_us) noexcept;

    record::RankRecord& record_;
    bool may_agree_ = false;
    bool one_thread_ = false;
    std::uint32_t next_id_ = 1;      // the least that is new to this rank
    std::uint32_t next_number_ = 1;  // where there is no id to number by
    std::mutex changing_;
    using Entry = std::pair<std::uint64_t const, Known>;
    std::unordered_map<std::uint64_t, Known, std::hash<std::uint64_t>, std::equal_to<>, memory::LeasedAllocator<Entry>>
        known_;
    std::uint64_t last_key_ = 0;  // the one that was asked for last, mostly asked for again
    Known last_;
};

}  // namespace sluice::plugin
