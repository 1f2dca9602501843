// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// All-to-all exchanges from one buffer into another, by the algorithm that is fastest for them.
///
/// These functions do what MPI_Alltoall and MPI_Alltoallv do, with 64-bit counts: block j of rank i comes to be block i
/// of rank j. Several algorithms can do that, one of them the MPI's own call. A model of costs chooses, from values
/// that are equal on all ranks, so no message is needed to agree.
///
/// All functions here are collective over the context and wait until the rank may use both buffers again. Memory of
/// each, in addition to the buffers and to what the MPI takes for messages under way: at most 48 KiB of the stack, and
/// the description of datatypes with gaps (12 to 36 bytes for each block of an indexed or struct type), without which a
/// rank does as well; for the MPI's own call with lists of counts, these lists once more if there are more than 2048
/// ranks. Nothing grows with the size of blocks. What messages under way
/// may take is leased from the budget (Settings::alltoall_window). Buffers are memory of the host.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>

#include "sluice/context.hpp"
#include "sluice/error.hpp"
#include "sluice/export.h"
#include "sluice/settings.hpp"
#include "sluice/units.hpp"

namespace sluice {

/// What one all-to-all overrides.
struct AlltoallOptions {
    /// Instead of Settings::alltoall; equal on all ranks. One that cannot serve a call gives way to `window`.
    std::optional<AlltoallAlgorithm> algorithm;
    std::optional<Bytes> window;  ///< instead of Settings::alltoall_window; may differ between ranks
};

/// What one all-to-all did on this rank.
struct SLUICE_API AlltoallOutcome {
    AlltoallAlgorithm algorithm =
        AlltoallAlgorithm::automatic;  ///< the one that was used, never `automatic` or `measured`
    Bytes sent;                        ///< bytes of blocks for other ranks
    Bytes received;                    ///< bytes of blocks from other ranks
    Bytes kept;                        ///< bytes of the block of this rank for itself
    Bytes staging;                     ///< memory that the call used
    std::uint64_t messages = 0;        ///< messages with blocks that left; 0 if the MPI's own call was made
    std::uint64_t pulled = 0;          ///< blocks that were read from the memory of their senders
    std::uint64_t lost = 0;            ///< blocks that should be read, could not, and came in messages
    std::uint64_t most_under_way = 0;  ///< messages that were under way at once, in each direction
    /// The outcome in one line that people can read.
    std::string text() const;
};

/// Sends a block of equal bytes to each rank.
/// @param context       the ranks that exchange; one thread at once may use it
/// @param from          one block for each rank of the context, in the order of ranks, at distances of `send_count`
///                      extents of `send_type`; the caller owns it, and it stays unchanged
/// @param send_count    elements of each block, at least 0
/// @param send_type     committed datatype of an element. Any shape, and another on each rank: blocks are paired in the
///                      order in which MPI would pack them. The caller may free it after the call.
/// @param to            room for one block from each rank, as for `from`; does not overlap it
/// @param receive_count elements of each block that comes
/// @param receive_type  committed datatype of these elements; gaps are not written
/// @param options       what this call overrides
/// @return what the call did on this rank
/// @throws Error invalid_argument on the calling rank alone, with nothing sent, for a negative count, a null datatype
///         or buffer, memory of a device, or numbers of bytes that differ between the two sides; mpi, if MPI failed
SLUICE_API AlltoallOutcome alltoall(Context& context, void const* from, std::int64_t send_count, MPI_Datatype send_type,
                                    void* to, std::int64_t receive_count, MPI_Datatype receive_type,
                                    AlltoallOptions const& options = {});

/// Sends blocks of different sizes. As in MPI, both ranks of a pair pass the same number of bytes; blocks may be empty.
/// No rank knows the sizes of other pairs, so the MPI's own call, which is faster for blocks of a few bytes, is never
/// made: an AlltoallPlan, whose ranks have compared their sizes, can make it.
/// @param context               the ranks that exchange; one thread at once may use it
/// @param from                  the address from which displacements of `send_displacements` count
/// @param send_counts           for each rank of the context, the elements of the block for it
/// @param send_displacements    for each rank, where its block begins, in extents of `send_type`
/// @param send_type             committed datatype of an element
/// @param to                    the address from which displacements of `receive_displacements` count
/// @param receive_counts        for each rank, the elements of the block from it
/// @param receive_displacements for each rank, where its block goes, in extents of `receive_type`; these blocks do not
///                              overlap, and are apart from those that leave
/// @param receive_type          committed datatype of an element that comes
/// @param options               what this call overrides
/// @return what the call did on this rank
/// @throws Error as alltoall(); also invalid_argument on the calling rank alone for lists that do not have one entry
///         for each rank
SLUICE_API AlltoallOutcome alltoallv(Context& context, void const* from, std::span<std::int64_t const> send_counts,
                                     std::span<std::int64_t const> send_displacements, MPI_Datatype send_type, void* to,
                                     std::span<std::int64_t const> receive_counts,
                                     std::span<std::int64_t const> receive_displacements, MPI_Datatype receive_type,
                                     AlltoallOptions const& options = {});

/// An all-to-all that is prepared once and done many times. The ranks compare their sizes when it is made, so it can
/// choose for different sizes as well as for equal ones. It may outlive the Context object, but not MPI_Finalize.
/// Threads: one at once may use it, as its context. Memory: a copy of the lists.
class SLUICE_API AlltoallPlan {
  public:
    /// For blocks of equal bytes. Collective over the context.
    /// @param context       the ranks that exchange
    /// @param send_count    as for alltoall()
    /// @param send_type     as for alltoall(); the plan keeps what it needs of it
    /// @param receive_count as for alltoall()
    /// @param receive_type  as for alltoall()
    /// @param options       what the plan overrides
    /// @throws Error the same on every rank: as alltoall(), or if bytes or algorithms differ between ranks
    AlltoallPlan(Context& context, std::int64_t send_count, MPI_Datatype send_type, std::int64_t receive_count,
                 MPI_Datatype receive_type, AlltoallOptions const& options = {});
    /// For blocks of different sizes. Collective over the context.
    /// @param context               the ranks that exchange
    /// @param send_counts           as for alltoallv()
    /// @param send_displacements    as for alltoallv()
    /// @param send_type             as for alltoallv()
    /// @param receive_counts        as for alltoallv()
    /// @param receive_displacements as for alltoallv()
    /// @param receive_type          as for alltoallv()
    /// @param options               what the plan overrides
    /// @throws Error the same on every rank: as alltoallv(); if algorithms differ between ranks, or a rank expects
    ///         another number of bytes than its peer sends
    AlltoallPlan(Context& context, std::span<std::int64_t const> send_counts,
                 std::span<std::int64_t const> send_displacements, MPI_Datatype send_type,
                 std::span<std::int64_t const> receive_counts, std::span<std::int64_t const> receive_displacements,
                 MPI_Datatype receive_type, AlltoallOptions const& options = {});
    ~AlltoallPlan();
    AlltoallPlan(AlltoallPlan&&) noexcept;
    AlltoallPlan& operator=(AlltoallPlan&&) noexcept;

    /// Exchanges. Collective over the context.
    /// @param from as for alltoall() or alltoallv()
    /// @param to   as for alltoall() or alltoallv()
    /// @return what the call did on this rank
    /// @throws Error as alltoall()
    AlltoallOutcome apply(void const* from, void* to);
    /// The algorithm that was chosen, the same on all ranks; `measured` as long as a plan tries which is the fastest:
    /// in its first nine to twelve calls, each of which exchanges as any other.
    AlltoallAlgorithm algorithm() const;

    struct [[gnu::visibility("hidden")]] State;

  private:
    std::unique_ptr<State> state_;
};

namespace detail {

SLUICE_API AlltoallOutcome alltoall_of_arrays(Context& context, std::span<std::byte const> from,
                                              std::span<std::byte> to, Bytes element, AlltoallOptions const& options);

}  // namespace detail

/// Sends equal parts of an array: `alltoall(context, numbers, others)`.
/// @param context the ranks that exchange
/// @param from    a contiguous range (a vector, an array, a span) of one block for each rank; its elements are moved as
///                bytes
/// @param to      a range of as many elements of the same type, which does not overlap `from`
/// @param options what this call overrides
/// @return what the call did on this rank
/// @throws Error as alltoall(); also invalid_argument on the calling rank alone for ranges of different lengths, or if
///         their length is no multiple of the number of ranks
template <std::ranges::contiguous_range From, std::ranges::contiguous_range To>
requires std::is_same_v<std::ranges::range_value_t<From>, std::ranges::range_value_t<To>> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<From>>
        AlltoallOutcome alltoall(Context& context, From const& from, To&& to, AlltoallOptions const& options = {}) {
    return detail::alltoall_of_arrays(context,
                                      std::as_bytes(std::span(std::ranges::data(from), std::ranges::size(from))),
                                      std::as_writable_bytes(std::span(std::ranges::data(to), std::ranges::size(to))),
                                      {sizeof(std::ranges::range_value_t<From>)}, options);
}

}  // namespace sluice
