// SPDX-License-Identifier: BSD-3-Clause
#include "transposes/exchange.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "engine/patience.hpp"
#include "mpi/mpi.hpp"
#include "transposes/in_place.hpp"

namespace sluice::transposes {

Exchange::Exchange(Geometry const& geometry, Manner const& manner, Slicing const& slicing, Wire const& wire,
                   std::span<std::byte> staging, TransposeReport& report) noexcept
    : geometry_(geometry),
      manner_(manner),
      slicing_(slicing),
      wire_(wire),
      staging_(staging),
      report_(report),
      wire_bytes_(wire_bytes(geometry.element(), manner.wire)),
      cell_order_(cell_order(geometry, manner, slicing)) {
    requests_.fill(MPI_REQUEST_NULL);
}

Exchange::~Exchange() {
    for (MPI_Request& request : requests_)
        if (request != MPI_REQUEST_NULL) {
            MPI_Cancel(&request);
            MPI_Request_free(&request);
        }
}

bool Exchange::has_open() const noexcept {
    return std::ranges::any_of(requests_, [](MPI_Request request) { return request != MPI_REQUEST_NULL; });
}

Exchange::Cell Exchange::cell_to(int member, std::int64_t step) const noexcept {
    Parts const& y = geometry_.y();
    std::int64_t const rows = slicing_.x_count(geometry_.x(), geometry_.me(), step);
    std::int64_t const depth = rows * slicing_.z_count(step) * wire_bytes_;
    Cell cell;
    cell.extents = {rows, y.size(member), slicing_.z_count(step)};
    // What stays here is not narrowed, so it may need more room than its place among the others.
    bool const is_last = member == geometry_.me() && wire_bytes_ != geometry_.element();
    cell.offset = depth * (is_last ? y.extent() : y.begin(member));
    cell.bytes = depth * y.size(member);
    return cell;
}

Exchange::Cell Exchange::cell_from(int member, std::int64_t step) const noexcept {
    Parts const& x = geometry_.x();
    std::int64_t const depth = geometry_.y().size(geometry_.me()) * slicing_.z_count(step) * wire_bytes_;
    Cell cell;
    cell.extents = {slicing_.x_count(x, member, step), geometry_.y().size(geometry_.me()), slicing_.z_count(step)};
    cell.offset = depth * slicing_.x_before(x, member, step);
    cell.bytes = depth * cell.extents[k_x];
    return cell;
}

bool Exchange::is_empty(std::int64_t step) const noexcept {
    return slicing_.x_count(geometry_.x(), geometry_.me(), step) == 0;
}

Place Exchange::staged(std::byte* at, Extents const& extents, std::int64_t element) const noexcept {
    return {at, strides_of(extents, cell_order_, element)};
}

/// Where a cell comes to lie in the array.
Place Exchange::place_of(Cell const& cell, int member, std::int64_t step) const noexcept {
    Parts const& x = geometry_.x();
    std::int64_t const z = slicing_.z_begin(step);
    if (!manner_.in_place || slicing_.is_along_z())
        return to_.moved((x.begin(member) + slicing_.x_begin(x, member, step)) * to_.strides[k_x] +
                         z * to_.strides[k_z]);
    // In the order of slices and members: rows before this cell, then as in the cell, with all of z.
    std::int64_t const rows =
        x.slices_before(x.count(), slicing_.slice_of(step), slicing_.slices()) + slicing_.x_before(x, member, step);
    std::int64_t const unit = geometry_.nz() * geometry_.element();
    Extents const whole{cell.extents[k_x], cell.extents[k_y], geometry_.nz()};
    return staged(to_.first + rows * cell.extents[k_y] * unit + z * geometry_.element(), whole, geometry_.element());
}

std::byte* Exchange::send_area(std::int64_t which) const noexcept {
    return staging_.data() + which % 2 * slicing_.area();
}

std::byte* Exchange::receive_area(std::int64_t step) const noexcept {
    return staging_.data() + (2 + step % 2) * slicing_.area();
}

void Exchange::copy_out(std::int64_t step) noexcept {
    std::byte* const area = send_area(filled_);
    step_in_area_[static_cast<std::size_t>(filled_ % 2)] = step;
    last_filled_ = step;
    ++filled_;
    std::int64_t const row = slicing_.x_begin(geometry_.x(), geometry_.me(), step);
    Place const slice = from_.moved(row * from_.strides[k_x] + slicing_.z_begin(step) * from_.strides[k_z]);
    for (int member = 0; member < geometry_.members(); ++member) {
        Cell const cell = cell_to(member, step);
        bool const stays = member == geometry_.me() || wire_bytes_ == geometry_.element();
        Place const to = staged(area + cell.offset, cell.extents, stays ? geometry_.element() : wire_bytes_);
        copy_box(to, slice.moved(geometry_.y().begin(member) * slice.strides[k_y]), cell.extents, geometry_.element(),
                 stays ? Change::none : Change::narrow);
    }
}

/// Copies out up to this step, and the next slice that is not empty. The other area is free: its step is over.
void Exchange::copy_ahead(std::int64_t step) noexcept {
    for (; copied_ < slicing_.steps() && last_filled_ <= step; ++copied_)
        if (!is_empty(copied_)) copy_out(copied_);
}

/// What stays on this rank goes from the area for sending to its place.
void Exchange::keep_own(std::int64_t step) noexcept {
    if (is_empty(step)) return;
    Cell const out = cell_to(geometry_.me(), step);
    Cell const in = cell_from(geometry_.me(), step);
    std::int64_t const area = step_in_area_[0] == step ? 0 : 1;
    copy_box(place_of(in, geometry_.me(), step), staged(send_area(area) + out.offset, out.extents, geometry_.element()),
             in.extents, geometry_.element());
    report_.kept += Bytes{static_cast<std::uint64_t>(elements_of(in.extents) * geometry_.element())};
}

/// Copies what has come in a step from the staging to its place.
void Exchange::take_in(std::int64_t step) noexcept {
    for (int member = 0; member < geometry_.members(); ++member) {
        if (member == geometry_.me()) continue;
        Cell const cell = cell_from(member, step);
        copy_box(place_of(cell, member, step), staged(receive_area(step) + cell.offset, cell.extents, wire_bytes_),
                 cell.extents, geometry_.element(), wire_bytes_ == geometry_.element() ? Change::none : Change::widen);
    }
}

/// Posts the messages of a step with up to k_most_messages members, those at distances from `first` on.
void Exchange::post(Direction direction, std::int64_t step, int first) {
    int const members = geometry_.members();
    int const last = std::min(members, first + k_most_messages);
    std::int64_t const area = step_in_area_[0] == step ? 0 : 1;
    for (int distance = first; distance < last; ++distance) {
        bool const out = direction == Direction::out;
        int const member = (geometry_.me() + (out ? distance : members - distance)) % members;
        Cell const cell = out ? cell_to(member, step) : cell_from(member, step);
        if (cell.bytes == 0) continue;
        MPI_Request& request = requests_[static_cast<std::size_t>(open_++)];
        int const rank = geometry_.rank_of(member);
        int const bytes = static_cast<int>(cell.bytes);
        if (out) {
            mpi::check(MPI_Isend(send_area(area) + cell.offset, bytes, MPI_BYTE, rank, wire_.tag, wire_.comm, &request),
                       "MPI_Isend");
            report_.sent += Bytes{static_cast<std::uint64_t>(bytes)};
            ++report_.messages;
        } else {
            std::byte* const into =
                slicing_.is_straight() ? place_of(cell, member, step).first : receive_area(step) + cell.offset;
            mpi::check(MPI_Irecv(into, bytes, MPI_BYTE, rank, wire_.tag, wire_.comm, &request), "MPI_Irecv");
            report_.received += Bytes{static_cast<std::uint64_t>(bytes)};
        }
    }
}

bool Exchange::are_complete() {
    int done = 0;
    mpi::check(MPI_Testall(open_, requests_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    return done != 0;
}

void Exchange::wait() {
    engine::Patience patience({.spins = k_looks_before_yield});
    while (!are_complete())
        patience.after(false);
    open_ = 0;
}

void Exchange::steps() {
    std::int64_t const steps = slicing_.steps();
    bool const straight = slicing_.is_straight();
    report_.steps += static_cast<std::uint64_t>(steps);
    copy_ahead(-1);
    for (std::int64_t step = 0; step < steps; ++step) {
        post(Direction::out, step, 1);
        copy_ahead(step);
        // Not before the copies: then less of a wire is used (docs/decisions/0109-late-receives.md).
        post(Direction::in, step, 1);
        keep_own(step);
        if (!straight && step > 0) take_in(step - 1);
        wait();
        for (int first = 1 + k_most_messages; first < geometry_.members(); first += k_most_messages) {
            post(Direction::in, step, first);
            post(Direction::out, step, first);
            wait();
        }
    }
    if (!straight && steps > 0) take_in(steps - 1);
}

void Exchange::run(std::byte const* from, std::byte* to) {
    from_ = {const_cast<std::byte*>(from),
             strides_of(geometry_.before(), geometry_.order_before(), geometry_.element())};
    to_ = {to, strides_of(geometry_.after(), geometry_.order_after(), geometry_.element())};
    steps();
}

void Exchange::run_in_place(std::byte* data) {
    constexpr Order k_rows{k_x, k_y, k_z};
    Order const& before = slicing_.is_along_z() ? geometry_.order_before() : k_rows;
    std::int64_t const had = elements_of(geometry_.before()) * geometry_.element();
    std::int64_t const growth = elements_of(geometry_.after()) * geometry_.element() - had;
    if (growth > 0) std::memmove(data + growth, data, static_cast<std::size_t>(had));
    from_ = {data + std::max<std::int64_t>(0, growth), strides_of(geometry_.before(), before, geometry_.element())};
    to_ = {data, strides_of(geometry_.after(), geometry_.order_after(), geometry_.element())};
    steps();
}

Order cell_order(Geometry const& geometry, Manner const& manner, Slicing const& slicing) noexcept {
    Order const& after = geometry.order_after();
    if (!manner.in_place || slicing.is_along_z()) return after;
    bool const x_first = std::ranges::find(after, k_x) < std::ranges::find(after, k_y);
    return x_first ? Order{k_x, k_y, k_z} : Order{k_y, k_x, k_z};
}

namespace {

/// The greatest number of rows that divides all cells.
std::int64_t rows_of_unit(Parts const& x, std::int64_t slices) {
    if (x.all_equal() && x.size(0) % slices == 0) return std::max<std::int64_t>(1, x.size(0) / slices);
    return 1;
}

}  // namespace

void sort_cells(std::byte* data, Geometry const& geometry, Slicing const& slicing, Order const& order,
                std::span<std::byte> scratch) noexcept {
    Parts const& x = geometry.x();
    std::int64_t const slices = slicing.slices();
    std::int64_t const ny = geometry.y().size(geometry.me());
    std::int64_t const unit = rows_of_unit(x, slices);
    std::int64_t const bytes = geometry.nz() * geometry.element() * unit;
    if (bytes == 0 || ny == 0) return;
    // Where the cell of an x begins, in rows, and the numbers of rows before it there and in it.
    struct Found {
        std::int64_t begin;
        std::int64_t row;
        std::int64_t rows;
    };
    auto const found = [&](std::int64_t element) -> Found {
        std::int64_t const part = x.part_with(element);
        std::int64_t const inside = element - x.begin(part);
        std::int64_t const slice = x.slice_with(part, inside, slices);
        std::int64_t const first = x.slice_begin(part, slice, slices);
        std::int64_t const before_slice = x.slices_before(x.count(), slice, slices);
        std::int64_t const before_cell =
            x.slices_before(part, slice + 1, slices) - x.slices_before(part, slice, slices);
        return {before_slice + before_cell, inside - first, x.slice_begin(part, slice + 1, slices) - first};
    };
    auto const units = static_cast<std::uint64_t>(x.extent() * ny / unit);
    if (order[0] == k_x) {
        permute_in_place(data, static_cast<std::uint64_t>(x.extent() / unit), static_cast<std::uint64_t>(bytes * ny),
                         scratch, [&](std::uint64_t at) {
                             Found const cell = found(static_cast<std::int64_t>(at) * unit);
                             return static_cast<std::uint64_t>((cell.begin + cell.row) / unit);
                         });
        return;
    }
    std::int64_t const columns = x.extent() / unit;
    permute_in_place(data, units, static_cast<std::uint64_t>(bytes), scratch, [&](std::uint64_t at) {
        auto const row = static_cast<std::int64_t>(at) / columns;
        Found const cell = found(static_cast<std::int64_t>(at) % columns * unit);
        return static_cast<std::uint64_t>((cell.begin * ny + row * cell.rows + cell.row) / unit);
    });
}

}  // namespace sluice::transposes
