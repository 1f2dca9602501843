// SPDX-License-Identifier: BSD-3-Clause
/// The contract of an algorithm for all-to-alls from one buffer into another. Each has a file here and one row in
/// algorithm.cpp; the rule (rule.hpp) chooses among the rows.
///
///     arguments ── Facts, equal on all ranks ──> rule: cost of each row ──> the cheapest ── Problem ──> run
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/inplace_blocks.hpp"
#include "engine/absences.hpp"
#include "node/remote_memory.hpp"
#include "sluice/alltoall.hpp"
#include "sluice/budget.hpp"

namespace sluice::collectives {

/// The blocks of one buffer.
using Blocks = InplaceBlocks;

/// What is known before the first message, and equal on all ranks.
struct Facts {
    int ranks = 1;
    bool even = true;         ///< every pair has `bytes`
    std::uint64_t bytes = 0;  ///< of the pairs with most bytes; of any pair, if nothing is known (`is_known`)
    bool is_known = true;     ///< false for an alltoallv without a plan: ranks know only their own sizes
    bool is_narrow = true;    ///< all counts and displacements are 32-bit numbers
    bool one_node = false;    ///< all ranks may read each other's memory, as far as is known
    bool has_lists = false;   ///< the MPI's own call would be MPI_Alltoallv
    std::uint64_t room = ~std::uint64_t{0};  ///< bytes: the least limit of all ranks' budgets
};

/// One exchange. The datatypes of both sides live as long as it does. Copies are cheap.
struct Problem {
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0;
    int size = 1;
    Blocks from;  ///< only read
    Blocks to;
    std::uint64_t from_element = 0;  ///< bytes of an element of each side
    std::uint64_t to_element = 0;
    std::int64_t from_extent = 0;
    std::int64_t to_extent = 0;
    node::RemoteMemory* peers = nullptr;
    Budget* budget = nullptr;
    Bytes window;  ///< of messages under way; may differ between ranks
    engine::Absences* absences = nullptr;
    std::uint64_t spins = 0;  ///< looks without result, before this rank offers its processor to others

    /// Called now and then while the rank waits. `under_way()` returns the members with whom messages are under way, in
    /// any order and more than once; it may throw std::bad_alloc.
    template <class UnderWay>
    void look(UnderWay const& under_way) const {
        if (absences->is_due()) try {
                tell_of(under_way());
            } catch (std::bad_alloc const&) {  // the line is all that is lost
            }
    }
    void tell_of(std::vector<int> members) const;

    std::uint64_t bytes_to(int member) const noexcept {
        return static_cast<std::uint64_t>(from.counts.at(member)) * from_element;
    }
    std::uint64_t bytes_from(int member) const noexcept {
        return static_cast<std::uint64_t>(to.counts.at(member)) * to_element;
    }
};

/// An MPI may hold a small message as a whole, and so much of a large one.
inline constexpr std::uint64_t k_held_of_message = 64 << 10;

struct AlgorithmEntry {
    AlltoallAlgorithm id;
    std::string_view name;
    bool (*serves)(Facts const& facts);
    /// Seconds that a call takes on a machine like those that were measured; only compared with those of other rows.
    double (*cost)(Facts const& facts);
    /// Collective. Adds to the counts of `outcome`.
    void (*run)(Problem const& problem, AlltoallOutcome& outcome);
};

std::span<AlgorithmEntry const> algorithms() noexcept;
AlgorithmEntry const& algorithm_entry(AlltoallAlgorithm id);

/// A rank offers its processor to others after so many looks without result: later, if each rank has one for itself.
inline constexpr std::uint64_t k_looks_without = 32;
inline constexpr std::uint64_t k_looks_with_processor = 4096;
/// After so many looks in vain a rank looks which ranks are missing.
inline constexpr std::uint64_t k_looks_in_vain = 32;

void run_plain(Problem const& problem, AlltoallOutcome& outcome);
void run_log_step(Problem const& problem, AlltoallOutcome& outcome);
void run_window(Problem const& problem, AlltoallOutcome& outcome);
void run_pull(Problem const& problem, AlltoallOutcome& outcome);

/// The bytes of staging that log_step needs, and the most that it has.
constexpr std::uint64_t log_step_staging(int ranks, std::uint64_t bytes) noexcept {
    auto const half = static_cast<std::uint64_t>(ranks + 1) / 2;
    return (static_cast<std::uint64_t>(ranks) + 2 * half) * bytes;
}
inline constexpr std::uint64_t k_most_log_step = 32 << 10;

/// Blocks from this size on are offered to be read.
inline constexpr std::uint64_t k_pulled_from = 16 << 10;

}  // namespace sluice::collectives
