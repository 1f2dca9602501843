// SPDX-License-Identifier: BSD-3-Clause
/// Exchanges the parts of an array between the members of a group, step by step through the staging.
///
///     step s:   [part] ── copy ──> | area s mod 2: a cell for each member | ── messages ──> staging or array of each
///     meanwhile                    | area of the next step is filled      |
///
/// In place the cells of a step take the room of elements that have been copied out. Slices end at size * s / slices in
/// each part, so after s slices a member has received at most s / slices of what it will have, and copied out, with the
/// slice ahead, at least s / slices of what it had. If it is to have more than it had, its part is moved to the end of
/// the memory first. So a cell never overwrites an element that has not left (docs/proofs/transpose.md).
///
/// No step waits for a later one: a member enters a step when its own sends and receives of the step before are
/// complete, and all members go through the same steps.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "sluice/transpose.hpp"
#include "transposes/copy_box.hpp"
#include "transposes/geometry.hpp"
#include "transposes/slicing.hpp"

namespace sluice::transposes {

/// A rank offers its core to others after this many looks without result, because there may be more ranks than cores.
inline constexpr std::uint64_t k_looks_before_yield = 32;

/// Where messages go.
struct Wire {
    MPI_Comm comm;
    int tag;
};

class Exchange {
  public:
    /// Messages that a rank has under way at once, in each direction.
    static constexpr int k_most_messages = 16;

    /// `staging` has the bytes for which `slicing` was made. All but the report must outlive the exchange.
    Exchange(Geometry const& geometry, Manner const& manner, Slicing const& slicing, Wire const& wire,
             std::span<std::byte> staging, TransposeReport& report) noexcept;
    /// If MPI failed, cancels what is open.
    ~Exchange();
    Exchange(Exchange const&) = delete;
    Exchange& operator=(Exchange const&) = delete;

    /// From one array into another, each in its own order.
    void run(std::byte const* from, std::byte* to);
    /// In place. Along z the result is in its final order. Along x the part must begin in the order x, y, z, and the
    /// result is in the order of slices and members, each cell in the order `cell_order()`.
    void run_in_place(std::byte* data);

    /// Whether messages may still come after an error of MPI.
    bool has_open() const noexcept;

  private:
    enum class Direction : std::uint8_t { out, in };

    /// What goes from one member to another in one step.
    struct Cell {
        Extents extents{};
        std::int64_t offset = 0;  ///< in its area
        std::int64_t bytes = 0;   ///< on the wire
    };
    Cell cell_to(int member, std::int64_t step) const noexcept;
    Cell cell_from(int member, std::int64_t step) const noexcept;
    bool is_empty(std::int64_t step) const noexcept;
    Place staged(std::byte* at, Extents const& extents, std::int64_t element) const noexcept;
    Place place_of(Cell const& cell, int member, std::int64_t step) const noexcept;
    std::byte* send_area(std::int64_t which) const noexcept;
    std::byte* receive_area(std::int64_t step) const noexcept;

    void steps();
    void copy_out(std::int64_t step) noexcept;
    void copy_ahead(std::int64_t step) noexcept;
    void take_in(std::int64_t step) noexcept;
    void keep_own(std::int64_t step) noexcept;
    void post(Direction direction, std::int64_t step, int first);
    void wait();
    bool are_complete();

    Geometry const& geometry_;
    Manner manner_;
    Slicing const& slicing_;
    Wire wire_;
    std::span<std::byte> staging_;
    TransposeReport& report_;
    std::int64_t wire_bytes_;
    Order cell_order_{};

    Place from_;               // this rank's part before
    Place to_;                 // its part afterwards
    std::int64_t copied_ = 0;  // steps that have been copied out, or have nothing to copy
    std::int64_t filled_ = 0;  // of these, steps that filled an area
    std::int64_t last_filled_ = -1;
    std::array<std::int64_t, 2> step_in_area_{-1, -1};
    std::array<MPI_Request, 2 * k_most_messages> requests_{};
    int open_ = 0;
};

/// The order of elements in the cells of an exchange, and of units afterwards: x first if it stays before y.
Order cell_order(Geometry const& geometry, Manner const& manner, Slicing const& slicing) noexcept;

/// After an exchange in place along x: sorts the cells, so that the array is stored in the order cell_order().
void sort_cells(std::byte* data, Geometry const& geometry, Slicing const& slicing, Order const& order,
                std::span<std::byte> scratch) noexcept;

}  // namespace sluice::transposes
