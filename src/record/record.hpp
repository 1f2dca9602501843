// SPDX-License-Identifier: BSD-3-Clause
/// What one rank records while it runs. The record has a fixed size and lies in memory that is mapped from a file of
/// its node, so the record of a killed job remains, complete to the last store.
///
///   node-<n>.sluice
///   +------------+-------------+-------------+-----+
///   | NodeHeader | RankRecord  | RankRecord  | ... |       one RankRecord for each rank of the node, in the order in
///   +------------+-------------+-------------+-----+       which they came; none grows with the number of ranks
///
///   RankRecord
///     head       rank, state, the call it is in now, peaks, sums; how it ended, as the next process of the node saw it
///     sites      one for each place that calls MPI: calls, bytes, time, growth, waiting that was hidden
///     peers      bytes to each 256th of MPI_COMM_WORLD
///     received   bytes from each 256th, of calls whose bytes only the receiver knows cheaply (broadcast, scatter)
///     comms      one for each communicator, while there is room
///     history    memory over the whole run; when it is full every second sample is dropped and the interval doubles
///     recent     memory of the last minutes: a ring
///     events     the last long calls: a ring
///     counters   what services of the plugin counted: counters.hpp
///
/// One writer (the rank; EndSeen has another), any number of readers, also while it is written and after its writer
/// died. Plain integers in the byte order of the machine; a reader bounds every index that it takes from the file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "groups/rank_map.hpp"
#include "kernel/process_mark.hpp"

namespace sluice::record {

inline constexpr std::uint64_t k_magic = 0x3165'6369'756c'73ULL;  // "sluice1"
/// One more also when functions.txt changes: sites name functions by their places there.
inline constexpr std::uint32_t k_format = 13;
inline constexpr std::size_t k_sites = 256;
inline constexpr std::size_t k_peers = 256;
inline constexpr std::size_t k_comms = 256;
inline constexpr std::size_t k_history = 1024;
inline constexpr std::size_t k_recent = 3072;
inline constexpr std::size_t k_events = 4096;
inline constexpr std::size_t k_counters = 64;
inline constexpr std::size_t k_counter_service = 40;  ///< bytes of a name, with the zero that ends it
inline constexpr std::size_t k_counter_what = 48;
inline constexpr std::size_t k_place = 320;  ///< bytes of the name of a place, with the zero that ends it
inline constexpr std::size_t k_sizes = 32;  ///< buckets of the histogram; i holds messages of 2^(i-1) … 2^i - 1 bytes,
                                            ///< 0 holds empty ones, the last all larger
inline constexpr std::uint32_t k_no_site = 0xffff'ffff;
inline constexpr std::uint32_t k_no_rank = 0xffff'ffff;
inline constexpr std::int32_t k_not_told = -1;  ///< no exit code and no status of a process is negative

/// The purpose of an MPI function; reports show sums by kind.
enum class Kind : std::uint32_t {
    other,
    setup,
    send,
    receive,
    completion,
    collective,
    communicator,
    window,
    one_sided,
    file
};

/// What a program makes by MPI and has to free. Not listed are keys of attributes.
enum class Object : std::uint32_t {
    none,
    request,  ///< complete, or freed
    datatype,
    communicator,
    group,
    window,
    operation,
    info,
    error_handler,
    file
};
inline constexpr std::size_t k_objects = 10;

enum class State : std::uint32_t {
    running,     ///< also found in the file of a killed rank, which could not write a final state: see fate.hpp
    finalizing,  ///< inside MPI_Finalize
    ended,       ///< MPI_Finalize returned
    exited,      ///< the process ended in an orderly way without MPI_Finalize
    aborted,     ///< MPI_Abort was called, or an error of MPI was fatal
    // A reader derives these states; no rank writes them.
    gone,     ///< killed, or ended without MPI_Finalize: the process no longer exists
    unknown,  ///< it was running at its last sign of life, and its process cannot be asked from here
};

/// How the peak of a rank is known.
enum class PeakSeen : std::uint32_t {
    at_sample,        ///< a sample holds it
    between_samples,  ///< the kernel knows of more than the samples around it: its call is not known
    before_init       ///< the process held it before it called MPI_Init
};

/// The memory at one moment, in KiB. resident = application + mpi_private + mpi_shared + files + sluice.
struct Sample {
    std::uint64_t time_us = 0;      ///< since RankHead::start
    std::uint32_t resident = 0;     ///< all pages of the process that are in memory, shared ones in full
    std::uint32_t mpi_private = 0;  ///< grown inside MPI calls: buffers, unexpected messages, queues
    std::uint32_t mpi_shared = 0;   ///< the same, in segments of shared memory
    std::uint32_t files = 0;        ///< pages of files: the program, libraries, files that are mapped
    std::uint32_t sluice = 0;       ///< memory of Sluice: this record, staging, tables
    std::uint32_t in_flight = 0;    ///< of the application's buffers: in calls and requests that are not complete
    // Of registered memory (docs/registration.md). The two others are what it would be, from the same calls.
    std::uint32_t pinned = 0;        ///< by this process, as the kernel counts it
    std::uint32_t left_pinned = 0;   ///< pages of all large buffers that were handed to MPI so far
    std::uint32_t used_at_once = 0;  ///< the most in flight since the sample before: if each message registers
    std::uint32_t site = k_no_site;  ///< the call in which the sample was taken

    bool operator==(Sample const&) const = default;
};

/// Of several samples one stays: what it holds of registered memory is then the most of all.
constexpr void keep_most_pinned(Sample& kept, Sample const& other) noexcept {
    if (other.pinned > kept.pinned) kept.pinned = other.pinned;
    if (other.left_pinned > kept.left_pinned) kept.left_pinned = other.left_pinned;
    if (other.used_at_once > kept.used_at_once) kept.used_at_once = other.used_at_once;
}

/// One place in the program that calls MPI, identified by return address and function.
struct Site {
    std::uint64_t address = 0;    ///< 0: unused. Site 0 collects the calls that found no free entry.
    std::uint64_t offset = 0;     ///< of the call in the file of its module
    std::uint64_t file_mark = 0;  ///< of that file (kernel/files/file_mark.hpp); 0: it could not be found
    std::uint32_t function = 0;   ///< index into the names of functions.hpp
    Kind kind = Kind::other;
    Object object = Object::none;       ///< what is made here
    std::array<char, k_place> place{};  ///< "name+0x1f (module)", ended by a zero
    std::uint64_t calls = 0;
    std::uint64_t bytes_out = 0;   ///< bytes that this rank handed to MPI to be sent or written
    std::uint64_t bytes_in = 0;    ///< room that this rank gave to MPI to receive or read into
    std::uint64_t time_ns = 0;     ///< inside the call
    std::uint64_t waiting_ns = 0;  ///< the part of time_ns that waited for another rank: not the transfer of bytes
    std::uint64_t longest_ns = 0;
    std::uint64_t held_private = 0;   ///< bytes of private memory that MPI took in these calls and has not given back
    std::uint64_t held_shared = 0;    ///< the same, in shared segments
    std::uint64_t grown_private = 0;  ///< what it held when that was most: private memory
    std::uint64_t grown_shared = 0;   ///< and shared segments
    std::uint64_t estimated = 0;      ///< of both: not measured around a call, but a part of what several calls brought
    std::uint64_t read_calls = 0;     ///< calls with a reading of memory at both ends, without the first call of all
    std::uint64_t read_bytes = 0;     ///< that MPI took in these
    std::uint64_t grown_own = 0;      ///< pages of the application's buffers that became resident in these calls
    std::uint64_t in_flight_peak = 0;  ///< the most bytes of the application's buffers that were in calls and open
                                       ///< requests of this site at once
    std::uint64_t first_us = 0;        ///< first and last call, since the start
    std::uint64_t last_us = 0;
    std::uint64_t growing_since_us = 0;  ///< when MPI's memory began to grow here; 0: it did not
    std::uint64_t unplaced_bytes = 0;    ///< bytes handed over here that are not in the matrix, because the call names
                                         ///< no pairs of ranks
    std::uint64_t in_place = 0;          ///< calls whose bytes leave from the buffer that they come into
    std::uint64_t other_buffers = 0;     ///< calls whose buffer was not that of the call before; the first is one
    std::uint64_t new_bytes = 0;         ///< of receive buffers, whose pages were not in memory when the call began
    std::uint64_t made = 0;              ///< objects of MPI that were made here
    std::uint64_t freed = 0;             ///< of these
    std::uint64_t deferred = 0;          ///< receives that returned before their data had come
    std::uint64_t hidden_ns = 0;  ///< from the return of such a receive to the first touch of its data, or to their
                                  ///< arrival if that came first: waiting that the program did not see
    std::uint64_t left_ns = 0;    ///< that the program still waited for these data: at a touch, or in a later call
    std::uint64_t moving_ns = 0;  ///< that it took to take their pages aside and to give them back
    std::array<std::uint32_t, k_sizes> sizes{};
};

/// Returns the bin of a world rank in the matrix. Bin b holds ranks b·size/256 … (b+1)·size/256 - 1; with at most 256
/// ranks, bin b is rank b.
constexpr std::uint32_t bin_of(std::uint32_t rank, std::uint32_t world_size) {
    if (world_size <= k_peers) return rank;
    return static_cast<std::uint32_t>(((std::uint64_t{rank} + 1) * k_peers - 1) / world_size);
}

/// Bytes and messages between this rank and those of one bin.
struct Peer {
    std::uint64_t bytes = 0;
    std::uint64_t messages = 0;
};

/// One communicator, in constant size whatever its own. Its name in the job is {size, root, number}: the world rank of
/// its rank 0, and a number that its members agreed on. Without an agreement the number is the place in the table of
/// its rank 0's record, as each member counts.
struct Comm {
    std::uint32_t root = 0;
    std::uint32_t number = 0;
    std::uint32_t size = 0;
    std::uint32_t rank = 0;          ///< rank of this process in the communicator
    std::uint32_t first = 0;         ///< members in a compressed form: world rank of local rank i is first + i·stride
    std::int32_t stride = 0;         ///< 0: the ranks are not regular, and only their number is known
    std::uint32_t site = k_no_site;  ///< the place that made the communicator
    std::uint32_t memory_kib = 0;    ///< growth of the rank's memory while the communicator was made
    std::uint64_t made_us = 0;
    std::uint64_t freed_us = 0;       ///< 0: not freed
    std::uint64_t each_bytes = 0;     ///< bytes that this rank had for each other member (allgather, alltoall)
    std::uint64_t each_messages = 0;  ///< number of those calls

    /// World ranks of its members.
    groups::StridedRanks members() const noexcept { return {static_cast<int>(first), stride}; }
};

/// A call that took a long time.
struct Event {
    std::uint64_t start_us = 0;
    std::uint32_t duration_us = 0;
    std::uint32_t site = k_no_site;
    std::uint64_t bytes = 0;

    bool operator==(Event const&) const = default;
};

/// The objects of one kind that the program has made, at all places.
struct ObjectCount {
    std::uint64_t made = 0;
    std::uint64_t freed = 0;
    std::uint64_t held = 0;       ///< bytes of MPI's memory that the making took and the freeing has not given back
    std::uint64_t grown = 0;      ///< the most of it at a time
    std::uint64_t estimated = 0;  ///< of that: not measured around a call
};

/// One figure of a service; reports add up the figures of the ranks by name.
struct Counter {
    std::array<char, k_counter_service> service{};  ///< in the plural: "all-to-alls in place"
    std::array<char, k_counter_what> what{};        ///< in the plural: "calls served"
    std::uint64_t value = 0;
};

/// The end of a rank's process, as the rank that watches it has seen it: a process that is killed cannot say so. One
/// that calls abort() or _exit() writes it down itself.
struct EndSeen {
    std::uint32_t seen = 0;                  ///< 1: the process has ended, or ends
    std::int32_t status = k_not_told;        ///< as waitpid() tells it; k_not_told if the kernel did not
    std::uint64_t unix_us = 0;               ///< when it was seen
    std::int64_t memory_kills = k_not_told;  ///< that the kernel did for lack of memory until then, since the job began
};

struct RankHead {
    std::uint32_t used = 0;  ///< 1 when all of the head is valid
    std::uint32_t world_rank = 0;
    std::uint32_t world_size = 0;
    State state = State::running;
    kernel::ProcessMark process;             ///< process that owns the record, also before `used`
    std::uint64_t start_unix_us = 0;         ///< when MPI_Init was entered
    std::uint64_t now_us = 0;                ///< last sign of life, counted from the start
    std::uint64_t end_us = 0;                ///< when the state became final
    std::uint64_t end_unix_us = 0;           ///< the same by the clock of the node, which all of its ranks share
    std::array<char, 64> mpi{};              ///< "Open MPI 4.1.4"
    std::uint32_t current_site = k_no_site;  ///< the call it is in; k_no_site: outside MPI
    std::int32_t abort_code = 0;
    std::int32_t exit_code = k_not_told;  ///< of a process that exited, as its parent is told it
    std::uint32_t awaited = k_no_rank;    ///< the world rank that this call waits for; k_no_rank: several, or unknown
    std::uint32_t processors = 0;         ///< that the node has
    std::uint32_t aborted_by_mpi = 0;     ///< 1: State::aborted, and the MPI ended the job because of an error
    std::uint64_t current_since_us = 0;
    std::uint64_t memory_limit = 0;  ///< bytes that the kernel lets this rank's node have: its control group or machine
    std::uint64_t asked_memory = 0;  ///< of `sluice run --memory`; 0: it was not given
    // The limit that the process has for itself (ulimit -v, ulimit -d) with the least room, and the most that counted
    // against it. 0: there is none.
    std::uint64_t own_limit = 0, own_used = 0;
    std::uint32_t own_limit_is_address_space = 0;
    // The highest that the kernel knows of, between two samples too. The parts are those of the sample next to it; what
    // it has more is the application's.
    Sample peak;
    PeakSeen peak_seen = PeakSeen::at_sample;
    // In KiB. Of peak.sluice what is no lease: this record, code, tables, the thread; of that the pages of files, which
    // this record is among where its folder is on a disk; and of Sluice's memory the pages of the plugin's file, which
    // the ranks of a node share.
    std::uint32_t peak_sluice_fixed = 0;
    std::uint32_t peak_sluice_files = 0;
    std::uint32_t sluice_code = 0;
    std::uint32_t huge_kib = 0;  ///< the most that was in reserved huge pages, which are no part of resident memory
    // Shared memory in KiB, the program's and the MPI's: at the peak, and now.
    std::uint32_t peak_segments = 0, segments_now = 0;
    // The reading of smaps_rollup at which the process had nearly the most of it: what it had then, and its
    // proportional part, as the kernel divides each page between the processes that map it. A part of 0: the kernel
    // does not tell.
    std::uint32_t segments = 0, segments_part = 0;
    std::uint64_t private_bytes = 0, shared_bytes = 0, proportional_bytes = 0;  ///< at the last reading of smaps_rollup
    std::uint64_t before_init = 0;                    ///< resident bytes when MPI_Init was entered
    std::uint64_t init_private = 0, init_shared = 0;  ///< grown in MPI_Init
    std::uint64_t init_files = 0;                     ///< the same of pages of files
    /// All that MPI_Init brought in, if libLLVM came with it; else 0. hwloc loads that to look for OpenCL devices.
    std::uint64_t init_compiler = 0;
    std::uint64_t time_in_mpi_ns = 0;
    std::uint64_t receives = 0;  ///< completed; ranks that send to this one look at it
    std::uint64_t waiting_ns = 0;
    // The work that Sluice did.
    std::uint64_t served_calls = 0;  ///< in-place all-to-alls served by Sluice's engine
    std::uint64_t served_bytes = 0;  ///< bytes that they exchanged with other ranks
    std::uint64_t saved_bytes =
        0;  ///< the most extra memory saved in one call: what MPI would have allocated less what Sluice allocated
    std::uint64_t passed_on = 0;  ///< calls counted and passed on although they look like calls that Sluice serves:
                                  ///< intercommunicators, persistent, partitioned
    // Sums over all places, also those that found no room in a table.
    std::array<ObjectCount, k_objects> objects{};  ///< by Object; requests only of place 0, `sites` has the others
    std::uint64_t comms_not_kept = 0;
    std::uint64_t comms_led = 0;  ///< communicators without an entry in `comms` whose rank 0 this is
    std::uint64_t windows_made = 0, windows_freed = 0;
    std::uint64_t sites = 0;  ///< used entries of `sites`
    std::uint64_t comms = 0;
    std::uint64_t history = 0;              ///< used entries of `history`
    std::uint64_t history_interval_us = 0;  ///< between two samples of `history`
    std::uint64_t recent = 0;               ///< samples ever written; the newest is at (recent - 1) % k_recent
    std::uint64_t events = 0;               ///< the same for events
    std::uint64_t counters = 0;             ///< used entries of `counters`
    // Empty unless the setting `identify` is on.
    std::array<char, 64> host{};
    std::array<char, 64> user{};
    std::array<char, 512> command{};  ///< the program and its arguments, truncated if they are longer
    EndSeen end_seen;                 ///< written by the rank that watches this one; this one never writes it
};

/// Of a head, what another rank maps to write `end_seen`.
inline constexpr std::size_t k_head_page = 4096;
static_assert(sizeof(RankHead) <= k_head_page);

struct alignas(4096) RankRecord {
    RankHead head;
    std::array<Site, k_sites> sites;
    std::array<Peer, k_peers> peers;
    std::array<Peer, k_peers> received;
    std::array<Comm, k_comms> comms;
    std::array<Sample, k_history> history;
    std::array<Sample, k_recent> recent;
    std::array<Event, k_events> events;
    std::array<Counter, k_counters> counters;
};

struct NodeHeader {
    std::uint64_t magic = 0;
    std::uint32_t format = 0;
    std::uint32_t record_bytes = 0;  ///< sizeof(RankRecord): a reader of another version refuses the file
    std::uint32_t claimed = 0;       ///< RankRecords in use
    std::uint32_t arrived = 0;       ///< ranks that share this head; more than `claimed` if the disk is full
    std::uint32_t ended = 0;         ///< how many of these have returned from MPI_Finalize
    std::uint32_t decision = 0;      ///< 1: all ranks of the job share this head; 2: some are missing
    std::uint32_t written = 0;       ///< ranks that have entered MPI_Finalize: their records are complete
    std::uint32_t end_told = 0;      ///< 1: a rank has said on standard error that one did not end in order
    std::uint64_t name = 0;          ///< hash of the file's name when it was made
    kernel::ProcessMark first;       ///< process of the rank that made the file
    std::array<std::byte, 4096 - 48 - sizeof(kernel::ProcessMark)> spare{};
};

static_assert(sizeof(NodeHeader) == 4096);

/// Where a record begins in its file.
constexpr std::uint64_t offset_of_record(std::uint64_t number) {
    return sizeof(NodeHeader) + number * sizeof(RankRecord);
}

static_assert(std::is_trivially_copyable_v<RankRecord>);
static_assert(sizeof(RankRecord) < 512 * 1024);

}  // namespace sluice::record
