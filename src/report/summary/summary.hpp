// SPDX-License-Identifier: BSD-3-Clause
/// What a report knows of a whole job. It is made from one rank's record and merged pairwise along any tree, and its
/// size does not grow with the number of ranks:
///
///   Summary
///     how it ended     ranks by state, the call each was in; at most k_kept_ends ways in which ranks ended
///     figures          Spreads: least, mean and most over the ranks, and which rank
///     sites            at most k_sites places that call MPI, the same place of several ranks added up
///     matrix           bytes from bin to bin of the ranks, at most 256 x 256, only cells that are not empty
///     comms            at most k_comms communicators, the largest first; the rest only in the sums
///     over_ranks       for more than k_full_ranks ranks: memory by time as a histogram over the ranks
///     ranks            at most k_full_ranks ranks in full: curve, long calls
///     nodes            at most k_nodes, those whose memory is fullest
///     objects          made and not freed, by kind
///     counters         at most k_kept_counters figures of services, added up by name
///
/// merge() is commutative and associative; but if more than 256 different places call MPI, the order decides which of
/// the small ones are kept by name. Needs no MPI.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/record.hpp"
#include "report/summary/ends.hpp"
#include "report/summary/growth.hpp"
#include "report/summary/memory_curve.hpp"
#include "report/summary/rank_set.hpp"
#include "report/summary/sites/objects.hpp"
#include "report/summary/spread.hpp"

namespace sluice::report {

inline constexpr std::uint32_t k_summary_format = 12;
inline constexpr std::uint32_t k_full_ranks = 32;
inline constexpr std::size_t k_kept_events = 1000;
inline constexpr std::size_t k_nodes = 32;
inline constexpr std::size_t k_kept_counters = 2 * record::k_counters;
inline constexpr std::size_t k_states = 7;
inline constexpr std::size_t k_kinds = 10;
inline constexpr std::uint64_t k_outside = 0;       ///< the id that stands for no site: outside MPI
inline constexpr std::uint64_t k_other_places = 1;  ///< the id of the site that collects calls without room

/// A name of a place that is equal on all ranks and fits into a double: 2 … 2^52 - 1.
std::uint64_t site_id(std::string_view function, std::string_view place);

/// Where the code of a place is in the file of its program or library.
struct CodeInFile {
    std::uint64_t mark = 0;    ///< of the file (kernel/files/file_mark.hpp); 0: not known
    std::uint64_t offset = 0;  ///< of the call
    auto operator<=>(CodeInFile const&) const = default;
};

/// A place in the program that calls MPI, over all ranks that call there. Bytes, nanoseconds, microseconds.
struct SiteSum {
    std::uint64_t id = k_other_places;
    std::string function;  ///< "MPI_Alltoallv"
    std::string place;     ///< "exchange+0x1f (app)", or "exchange@halo.c:97 (app)"
    CodeInFile code;
    record::Kind kind = record::Kind::other;
    std::uint64_t calls = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t bytes_in = 0;
    Spread time_ns;
    Spread waiting_ns;
    Spread bytes;  ///< sent and received
    Spread longest_ns;
    Spread grown;                          ///< MPI's memory that these calls took, the most at a time
    std::uint64_t estimated = 0;           ///< of it over the ranks: not measured around a call
    Spread grown_own;                      ///< pages of the call's own buffers
    Spread in_flight;                      ///< the most at one moment
    std::uint64_t in_flight_peak_kib = 0;  ///< the peak of the rank that has most in flight
    Spread new_bytes;                      ///< received into pages that were not in memory when the call began
    std::uint64_t first_us = 0;
    std::uint64_t last_us = 0;
    std::uint64_t growing_since_us = 0;  ///< the earliest of all ranks; 0: grows on no rank
    std::uint64_t growing_ranks = 0;
    std::uint64_t unplaced_bytes = 0;              ///< handed over here, but not in the matrix
    std::uint64_t in_place = 0;                    ///< calls whose bytes leave from the buffer that they come into
    std::uint64_t other_buffers = 0;               ///< calls whose buffer was not that of the rank's call before
    record::Object object = record::Object::none;  ///< what is made here
    std::uint64_t made = 0;
    Spread left;                 ///< made here and not freed; of requests also: not complete
    std::uint64_t deferred = 0;  ///< receives that returned before their data had come
    Spread hidden_ns;            ///< waiting for these data that the program did not see
    Spread left_ns;              ///< that the program still waited for them
    Spread moving_ns;            ///< taking their pages aside and giving them back
    std::array<std::uint64_t, record::k_sizes> sizes{};
    bool operator==(SiteSum const&) const = default;
};

struct Cell {
    std::uint32_t from = 0;  ///< `from` and `to` are bins of ranks
    std::uint32_t to = 0;
    std::uint64_t bytes = 0;
    std::uint64_t messages = 0;
    bool operator==(Cell const&) const = default;
};

/// A communicator. Its global id needs no table by rank: each rank is given two prefix sums (Scope::comms), and only
/// the record of the communicator's rank 0 carries the id into the sum.
struct CommSum {
    std::uint32_t root = 0;
    std::uint32_t number = 0;
    std::uint32_t size = 0;
    std::uint32_t first = 0;
    std::int32_t stride = 0;  ///< 0: not regular
    std::optional<std::uint64_t> id;
    std::uint64_t site = k_outside;
    Spread memory_kib;
    std::uint64_t made_us = 0;
    std::uint64_t freed = 0;  ///< ranks that freed it
    bool operator==(CommSum const&) const = default;
};

/// The ranks of one state that were in the same call, or outside MPI, at their last sign of life.
struct Whereabouts {
    std::uint64_t site = k_outside;
    record::State state = record::State::running;
    std::string function, place;  ///< empty outside MPI
    RankSet ranks;
    Spread last_us;       ///< their last sign of life, since the first rank entered MPI_Init
    Spread since_us;      ///< how long they had been in the call
    Spread resident_kib;  ///< the memory that they held last
    Spread awaited;       ///< the ranks that they wait for, of those that wait for one that is known
    bool operator==(Whereabouts const&) const = default;
};

/// The memory of one owner that grew until the end, or until it stood at a limit (climb()): on how many ranks, and on
/// which rank most.
struct GrowthSum {
    RankSet ranks;
    std::uint32_t most_rank = 0;
    Growth most;
    std::uint64_t earliest_us = 0;
    bool operator==(GrowthSum const&) const = default;
};

/// A rank at its peak. The KiB of the owners are those at that moment.
struct PeakOf {
    std::uint32_t rank = 0;
    std::uint64_t kib = 0;  ///< the most resident memory, also between two samples: sample.resident
    record::Sample sample;
    std::uint64_t sluice_fixed_kib = 0;  ///< the part of sample.sluice that is no lease
    std::uint64_t kept_mpi_kib = 0;      ///< MPI's memory of the rank in its last sample
    record::PeakSeen seen = record::PeakSeen::at_sample;
    std::string function, place;  ///< the call that the sample was in; empty outside MPI
    bool operator==(PeakOf const&) const = default;
};

/// All ranks of a node together. Shared memory counts by each rank's proportional part, which is among its own; where
/// the kernel does not tell that, once, as the rank with most of it has it. What the ranks held at the end has pages of
/// files (libraries, mapped files, the code of Sluice) once in `shared`. The need has none, also not of Sluice's
/// records on a disk: the kernel can drop them.
struct NodeSum {
    std::uint32_t node = 0;
    std::uint32_t ranks = 0;
    std::uint32_t processors = 0;                           ///< 0: not known
    std::array<char, 64> host{};                            ///< only with the setting `identify`
    std::uint64_t limit = 0;                                ///< bytes that the kernel allows; 0: none was found
    std::uint64_t asked = 0;                                ///< bytes, of --memory; 0: it was not given
    std::uint64_t last_own_kib = 0, last_shared_kib = 0;    ///< at the end
    std::uint64_t peaks_own_kib = 0, peaks_shared_kib = 0;  ///< each rank at its peak, without pages of files
    std::uint64_t peaks_kib = 0, peaks_files_kib = 0;       ///< sums over the ranks: the peaks, and files in them
    std::uint64_t most_kib = 0;                             ///< of one rank at its peak, without pages of files
    std::uint64_t last_kib() const { return last_own_kib + last_shared_kib; }
    /// Ranks that share memory at different times have less than all of it as their part, and one of them had all.
    std::uint64_t need_kib() const { return std::max(peaks_own_kib + peaks_shared_kib, most_kib); }
    /// What the peaks of several ranks have of the same shared memory, beyond once.
    std::uint64_t repeated_kib() const { return peaks_kib - std::min(peaks_kib, need_kib() + peaks_files_kib); }
    bool operator==(NodeSum const&) const = default;
};

/// One rank in full.
struct RankDetail {
    std::uint32_t rank = 0;
    record::State state = record::State::running;
    std::uint64_t peak_kib = 0;
    std::uint64_t peak_mpi_kib = 0;
    std::uint64_t waiting_ns = 0;
    std::uint64_t time_in_mpi_ns = 0;
    std::uint64_t init_ns = 0;  ///< in MPI_Init
    std::uint64_t now_us = 0;
    record::Sample last;
    std::uint64_t current_site = k_outside;
    std::uint64_t current_since_us = 0;
    std::uint32_t awaited = record::k_no_rank;  ///< the rank that it waits for
    std::vector<std::uint64_t> site_ids;        ///< Sample::site and Event::site of this rank are indices into these
    std::vector<record::Sample> curve;
    std::vector<record::Event> events;  ///< in the order of time: the longest, and the last ones
    bool operator==(RankDetail const&) const = default;
};

/// What a service counted on all ranks that ran it.
struct CounterSum {
    std::string service;  ///< "all-to-alls in place"
    std::string what;     ///< "calls served"
    Spread count;
    bool operator==(CounterSum const&) const = default;
};

/// The identity of the job, empty without the setting `identify`. Of several commands, that of the lowest rank.
struct Identity {
    std::uint32_t rank = 0;
    std::string user;
    std::string command;  ///< with its arguments
    bool operator==(Identity const&) const = default;
};

struct Summary {
    std::uint32_t world_size = 0;
    std::string mpi;
    Identity identity;
    std::uint64_t start_unix_us = 0;  ///< the earliest
    std::uint64_t duration_us = 0;    ///< the longest
    std::uint64_t ranks_seen = 0;     ///< ranks that left a record
    std::array<RankSet, k_states> states;
    std::vector<EndSum> ends;  ///< by how and code, of ranks that did not end in order
    // What each rank has one of: figures.hpp.
    Spread peak_kib, application_kib, mpi_private_kib, mpi_shared_kib, files_kib, sluice_kib, sluice_fixed_kib,
        in_flight_kib;
    // Of each rank the most at one moment: of registered memory, and what it would be if nothing were given back, or
    // each message registered.
    Spread pinned_kib, left_pinned_kib, used_at_once_kib;
    Spread last_kib, before_init, init_private, init_shared, time_in_mpi_ns, waiting_ns, lived_us;
    Spread huge_kib;       ///< in reserved huge pages, which no other figure has
    Spread init_files;     ///< pages of files that came in MPI_Init
    Spread init_compiler;  ///< all that came in it, where a compiler for devices did: see RankHead
    Spread init_ns;        ///< in MPI_Init; a part of time_in_mpi_ns
    PeakOf highest;
    std::array<std::uint64_t, k_kinds> time_by_kind_ns{};
    std::uint64_t served_calls = 0, served_bytes = 0, passed_on = 0;
    Spread saved_bytes;
    std::uint64_t comms_total = 0;  ///< different ones, with MPI's own
    std::uint64_t comms_not_kept = 0;
    std::vector<ObjectSum> objects;                  ///< by kind
    std::array<GrowthSum, k_owners.size()> growing;  ///< by Owner
    std::vector<SiteSum> sites;                      ///< by id
    std::vector<Cell> matrix;                        ///< by from, to
    std::vector<CommSum> comms;
    std::vector<Whereabouts> now;  ///< by site and state
    std::vector<NodeSum> nodes;
    std::vector<CounterSum> counters;  ///< by service, what
    std::vector<RankDetail> ranks;     ///< by rank
    OverRanks resident_over_ranks, mpi_over_ranks;

    RankSet const& in_state(record::State state) const { return states[static_cast<std::size_t>(state)]; }
    bool all_ended() const { return in_state(record::State::ended).count() == world_size; }
    /// True if no rank that left a record did anything else than end; others may have left none.
    bool all_seen_ended() const { return ranks_seen > 0 && in_state(record::State::ended).count() == ranks_seen; }
    /// True if some rank lives, as far as this process can tell.
    bool may_run() const {
        return in_state(record::State::running).count() + in_state(record::State::finalizing).count() +
                   in_state(record::State::unknown).count() >
               0;
    }
    SiteSum const* site(std::uint64_t id) const;
    bool operator==(Summary const&) const = default;
};

/// The number of communicators that one rank, all lower ranks or all ranks lead as rank 0. Communicators of several
/// members and of one member are numbered apart, so that MPI_COMM_WORLD is 0 and the ids of all have no gap.
struct CommCounts {
    std::uint64_t several = 0;
    std::uint64_t alone = 0;
    CommCounts& operator+=(CommCounts const& other) {
        several += other.several;
        alone += other.alone;
        return *this;
    }
    bool operator==(CommCounts const&) const = default;
};

/// What the summary of one rank needs to know of the job. All ranks must be given the same duration and start.
struct Scope {
    std::span<char const* const> functions;  ///< names by Site::function; a number without name is "function 17"
    std::uint64_t duration_us = 0;           ///< the greatest RankHead::now_us of all ranks
    CommCounts comms_before;                 ///< the sum of rooted_comms over all lower world ranks
    std::uint64_t comms_of_several = 0;      ///< the sum of CommCounts::several over all ranks
    std::uint64_t start_unix_us = 0;         ///< the least of all ranks; 0: this rank's own start
};

/// Counts the communicators in the record that have this rank as rank 0.
CommCounts rooted_comms(record::RankRecord const& record);

/// Trusts no index of the record. Throws Error(invalid_argument) if the head of the record cannot be true.
Summary summary_of(record::RankRecord const& record, Scope const& scope);

/// Adds one rank to the sum of its node; call it once for each rank of the node.
void add_rank(NodeSum& sum, record::RankRecord const& record);
/// Adds the finished sum of a node to the job's summary, on one rank of that node.
void add_node(Summary& summary, NodeSum const& node);

/// Adds `from`, the summary of other ranks of the same job, to `into`.
void merge(Summary& into, Summary const& from);

}  // namespace sluice::report
