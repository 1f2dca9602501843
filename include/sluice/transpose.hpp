// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Transposes of distributed 3-D arrays, in place or from one array to another, in bounded extra memory.
///
/// A 3-D array is divided among the ranks along some of its axes. A transpose divides it along another axis, so that
/// the axis which was divided before lies whole on each rank: what parallel FFTs do between their one-dimensional
/// transforms, usually with MPI_Alltoall and two arrays. Here one array and Settings::staging suffice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sluice/context.hpp"
#include "sluice/error.hpp"
#include "sluice/export.h"
#include "sluice/units.hpp"

namespace sluice {

/// A 3-D array as a whole, the same on all ranks.
struct ArrayShape {
    std::array<std::int64_t, 3> extents{};  ///< elements along axes 0, 1 and 2; may be 0
    Bytes element{};                        ///< size of one element, at least 1; elements are moved as bytes
};

/// How an array is divided among the ranks of a context, and in which order each rank stores its part. Ranks are dealt
/// to the parts row by row: rank r has part (c0, c1, c2) with r = (c0 * grid[1] + c1) * grid[2] + c2.
struct ArrayLayout {
    std::array<int, 3> grid{1, 1, 1};     ///< parts along each axis; their product is the number of ranks
    std::array<int, 3> order{0, 1, 2};    ///< the axes as stored: the first varies slowest, the last is contiguous
    std::array<std::int64_t, 3> block{};  ///< elements of a part along each axis: the first parts have as many, the
                                          ///< last ones fewer or none, as in FFTW; 0: parts as even as possible
    bool operator==(ArrayLayout const&) const = default;
};

/// Slabs: the array is divided along one axis.
/// @param axis  0, 1 or 2
/// @param ranks number of ranks
/// @param order the axes as stored
/// @return the layout, with even parts
SLUICE_API ArrayLayout slabs(int axis, int ranks, std::array<int, 3> const& order = {0, 1, 2});

/// Pencils: the array is divided along two axes and whole along the third.
/// @param along   the axis that is whole
/// @param rows    parts along the first of the other two axes
/// @param columns parts along the second of them; `rows * columns` is the number of ranks
/// @param order   the axes as stored
/// @return the layout, with even parts
SLUICE_API ArrayLayout pencils(int along, int rows, int columns, std::array<int, 3> const& order = {0, 1, 2});

/// The part of a rank: elements from `begin` on, before `end`, along each axis.
struct ArrayPart {
    std::array<std::int64_t, 3> begin{};  ///< the first index along each axis
    std::array<std::int64_t, 3> end{};    ///< the index after the last
    /// Number of elements along an axis.
    std::int64_t extent(int axis) const noexcept {
        auto const i = static_cast<std::size_t>(axis);
        return end[i] - begin[i];
    }
    /// Number of elements.
    std::uint64_t elements() const noexcept { return static_cast<std::uint64_t>(extent(0) * extent(1) * extent(2)); }
};

/// The part of a rank.
/// @param extents elements along each axis
/// @param layout  how the array is divided
/// @param rank    a rank, from 0 to the product of `layout.grid` - 1
/// @return its part
/// @throws Error invalid_argument for a layout or a rank that does not exist
SLUICE_API ArrayPart part_of(std::array<std::int64_t, 3> const& extents, ArrayLayout const& layout, int rank);

/// How elements travel to other ranks.
enum class WireType : std::uint8_t {
    as_stored,         ///< bit by bit
    float_for_double,  ///< elements are made of doubles, each of which travels as a float: half the bytes, and 24 bits
                       ///< of each number. Elements that stay on their rank keep all bits.
};

/// What one transpose overrides. Equal on all ranks.
struct TransposeOptions {
    std::optional<Bytes> staging;  ///< instead of Settings::staging
    WireType wire = WireType::as_stored;
};

/// What one transpose did on this rank.
struct SLUICE_API TransposeReport {
    Bytes sent;                  ///< bytes that left for other ranks, as they travelled
    Bytes received;              ///< bytes that came from other ranks, as they travelled
    Bytes kept;                  ///< bytes of elements that stayed on this rank
    Bytes staging;               ///< staging that the call used
    std::uint64_t steps = 0;     ///< slices of the array that were exchanged one after the other
    std::uint64_t messages = 0;  ///< messages with elements that left
    std::uint64_t swapped = 0;   ///< ranks of this node whose memory was swapped with this rank's (in place)
    std::uint64_t pulled = 0;    ///< ranks of this node whose array was read (into another array)
    bool in_place = false;       ///< whether the array was its own destination
    /// The report in one line that people can read.
    std::string text() const;
};

/// Transposes in place: `array` holds the part that `before` gives to this rank, and afterwards the one of `after`.
/// Collective over the context. Of the two layouts, `before` divides one axis that `after` does not divide, `after`
/// divides another one into equally many parts, and the third axis is divided alike in both; or they differ only in
/// their orders. Memory: the staging (Settings::staging, or four rows of the axis that is divided next, if these are
/// larger), which the context keeps for the next call; nothing that grows with ranks or the array.
/// @param context the ranks that hold the array; one thread at once may use it
/// @param shape   the array as a whole
/// @param before  how it is divided and stored now
/// @param after   how it shall be divided and stored
/// @param array   memory of the larger of both parts, which begins with the part of `before`; the caller owns it. May
/// be
///                null if both are empty.
/// @param options what this call overrides
/// @return what the call did on this rank
/// @throws Error the same on every rank, before any byte has moved: invalid_argument for layouts that do not belong
///         together, a null pointer, memory of a device, or arguments that differ between ranks; out_of_memory
SLUICE_API TransposeReport transpose(Context& context, ArrayShape const& shape, ArrayLayout const& before,
                                     ArrayLayout const& after, void* array, TransposeOptions const& options = {});

/// Transposes from one array into another. Collective over the context.
/// @param context the ranks that hold the arrays
/// @param shape   the array as a whole
/// @param before  how it is divided and stored in `from`
/// @param after   how it shall be divided and stored in `to`
/// @param from    the part of this rank, which stays as it is; the caller owns it
/// @param to      memory for the part of this rank; must not overlap `from`, unless it is the same on all ranks: then
///                the array is transposed in place
/// @param options what this call overrides
/// @return what the call did on this rank
/// @throws Error as the form in place; also for arrays that overlap
SLUICE_API TransposeReport transpose(Context& context, ArrayShape const& shape, ArrayLayout const& before,
                                     ArrayLayout const& after, void const* from, void* to,
                                     TransposeOptions const& options = {});

/// A transpose that is prepared once and applied many times: its layouts are checked and agreed on, and its staging is
/// held. It may outlive the Context object, but not MPI_Finalize. Threads: one at once may use it, as its context. An
/// object that was moved from throws invalid_argument.
class SLUICE_API TransposePlan {
  public:
    /// Collective over the context.
    /// @param context the ranks that hold the arrays
    /// @param shape   the array as a whole
    /// @param before  how it is divided and stored before each transpose
    /// @param after   how it is divided and stored afterwards
    /// @param options what the plan overrides
    /// @throws Error as transpose()
    TransposePlan(Context& context, ArrayShape const& shape, ArrayLayout const& before, ArrayLayout const& after,
                  TransposeOptions const& options = {});
    ~TransposePlan();
    TransposePlan(TransposePlan&&) noexcept;
    TransposePlan& operator=(TransposePlan&&) noexcept;

    /// Transposes in place. Collective over the context.
    /// @param array as for transpose()
    /// @return what the call did on this rank
    /// @throws Error as transpose()
    TransposeReport apply(void* array);
    /// Transposes from one array into another. Collective over the context.
    /// @param from as for transpose()
    /// @param to   as for transpose()
    /// @return what the call did on this rank
    /// @throws Error as transpose()
    TransposeReport apply(void const* from, void* to);

    struct [[gnu::visibility("hidden")]] State;

  private:
    std::unique_ptr<State> state_;
};

}  // namespace sluice
