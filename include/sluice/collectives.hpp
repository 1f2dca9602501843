// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// All-to-all exchanges in place, in bounded extra memory.
///
/// These functions do what MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw do with MPI_IN_PLACE: block j of rank i and
/// block i of rank j are swapped. MPI libraries copy a peer's whole block for each exchange; here 256 KiB suffice for
/// blocks of any size.
///
/// All functions here are collective over the context and wait until the exchange is complete. Memory of each:
/// Settings::inplace_staging, which the context keeps for the next call, and the description of the datatype (12 to 36
/// bytes for each block of an indexed or struct type, nothing for others). Nothing grows with ranks or counts. A
/// context belongs to one thread at once.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

#include "sluice/context.hpp"
#include "sluice/error.hpp"
#include "sluice/export.h"
#include "sluice/units.hpp"

namespace sluice {

/// The figures of one in-place exchange on this rank.
struct AlltoallReport {
    Bytes exchanged;                  ///< bytes of this rank that were exchanged with other ranks
    Bytes staging;                    ///< staging that the call used
    std::uint64_t pairs_swapped = 0;  ///< peers whose memory was swapped directly with this rank's
    std::uint64_t pairs_staged = 0;   ///< peers reached by messages, chunk by chunk
    std::uint64_t pairs_small = 0;    ///< peers whose block was sent with the first message
    std::uint64_t pairs_lost = 0;     ///< of pairs_swapped: access was lost, messages did the rest
};

/// Exchanges blocks of equal size. `type` may have any shape, and another on each rank: blocks are paired in the order
/// in which MPI would pack them, byte by byte, and gaps are neither read nor written. A block may have more than 2 GiB.
/// @param context the ranks that exchange; any number of calls on it may follow each other
/// @param buffer  one block for each rank of the context, in the order of ranks, at distances of `count` extents of
///                `type`; the caller owns it; MPI_BOTTOM is allowed
/// @param count   elements of `type` in each block, at least 0
/// @param type    committed datatype of an element; the caller may free it after the call
/// @return what the exchange did on this rank
/// @throws Error invalid_argument on both ranks of a pair whose blocks differ in bytes: the other pairs have exchanged
///         theirs, and the blocks of this pair are as before. The same on the calling rank alone, with nothing
///         exchanged, for a negative count, MPI_DATATYPE_NULL, or a null buffer of a predefined type.
SLUICE_API AlltoallReport alltoall_in_place(Context& context, void* buffer, std::int64_t count, MPI_Datatype type);

/// Exchanges blocks of different sizes. A pair whose blocks are empty on both sides costs nothing. As in MPI, if only
/// one of them is empty, the other rank waits for ever.
/// @param context       the ranks that exchange
/// @param buffer        the address from which displacements count; the caller owns the memory; MPI_BOTTOM is allowed
/// @param counts        for each rank of the context, the elements of the block for it
/// @param displacements for each rank, where its block begins, in extents of `type`; blocks must not overlap
/// @param type          committed datatype of an element
/// @return what the exchange did on this rank
/// @throws Error as alltoall_in_place(); also invalid_argument on the calling rank alone, with nothing exchanged, if a
///         list does not have one entry for each rank
SLUICE_API AlltoallReport alltoallv_in_place(Context& context, void* buffer, std::span<std::int64_t const> counts,
                                             std::span<std::int64_t const> displacements, MPI_Datatype type);

/// Exchanges blocks of different types. Memory: the descriptions of at most seven types at once.
/// @param context       the ranks that exchange
/// @param buffer        the address from which displacements count; the caller owns the memory; MPI_BOTTOM is allowed
/// @param counts        for each rank of the context, the elements of the block for it
/// @param displacements for each rank, where its block begins, in bytes; blocks must not overlap
/// @param types         for each rank, the committed datatype of an element
/// @return what the exchange did on this rank
/// @throws Error as alltoallv_in_place()
SLUICE_API AlltoallReport alltoallw_in_place(Context& context, void* buffer, std::span<std::int64_t const> counts,
                                             std::span<std::int64_t const> displacements,
                                             std::span<MPI_Datatype const> types);

namespace detail {

SLUICE_API AlltoallReport alltoall_of_bytes(Context& context, std::span<std::byte> array, Bytes element);
SLUICE_API AlltoallReport alltoallv_of_bytes(Context& context, std::span<std::byte> array, Bytes element,
                                             std::span<std::int64_t const> counts,
                                             std::span<std::int64_t const> displacements);

/// A contiguous array whose elements can be moved as bytes.
template <typename Array>
concept ArrayOfBytes = std::ranges::contiguous_range<Array> && std::ranges::sized_range<Array> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<Array>> &&
    !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Array>>>;

template <ArrayOfBytes Array>
std::span<std::byte> bytes_of_array(Array& array) {
    return std::as_writable_bytes(std::span(std::ranges::data(array), std::ranges::size(array)));
}

}  // namespace detail

/// Exchanges an array of equal blocks: `alltoall_in_place(context, numbers)`.
/// @param context the ranks that exchange
/// @param array   a contiguous range (a vector, an array, a span) of one block for each rank of the context; its
///                elements are moved as bytes; the caller owns it
/// @return what the exchange did on this rank
/// @throws Error as alltoall_in_place(); also invalid_argument on the calling rank alone, with nothing exchanged, if
///         the number of elements is no multiple of the number of ranks
template <detail::ArrayOfBytes Array>
AlltoallReport alltoall_in_place(Context& context, Array&& array) {
    return detail::alltoall_of_bytes(context, detail::bytes_of_array(array),
                                     {sizeof(std::ranges::range_value_t<Array>)});
}

/// Exchanges blocks of different sizes within an array.
/// @param context       the ranks that exchange
/// @param array         a contiguous range whose elements are moved as bytes; the caller owns it
/// @param counts        for each rank of the context, the elements of the block for it
/// @param displacements for each rank, the index of the first element of its block; blocks must not overlap
/// @return what the exchange did on this rank
/// @throws Error as alltoallv_in_place(); also invalid_argument on the calling rank alone, with nothing exchanged, for
///         a block that is not within the array
template <detail::ArrayOfBytes Array>
AlltoallReport alltoallv_in_place(Context& context, Array&& array, std::span<std::int64_t const> counts,
                                  std::span<std::int64_t const> displacements) {
    return detail::alltoallv_of_bytes(context, detail::bytes_of_array(array),
                                      {sizeof(std::ranges::range_value_t<Array>)}, counts, displacements);
}

}  // namespace sluice
