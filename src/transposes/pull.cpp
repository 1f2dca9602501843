// SPDX-License-Identifier: BSD-3-Clause
#include "transposes/pull.hpp"

#include <algorithm>

#include "engine/patience.hpp"
#include "mpi/mpi.hpp"

namespace sluice::transposes {

namespace {

/// Boxes of this size stay in the cache between the read and the copy.
constexpr std::size_t k_largest_box = 256 << 10;

}  // namespace

/// Tells `member` our address, and returns that of `other`.
Pull::Address Pull::address_of(int member, int other, Address const& mine) const {
    Address theirs;
    std::array<MPI_Request, 2> both{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    mpi::check(MPI_Irecv(&theirs, sizeof theirs, MPI_BYTE, geometry_.rank_of(other), wire_.tag, wire_.comm, &both[0]),
               "MPI_Irecv");
    mpi::check(MPI_Isend(&mine, sizeof mine, MPI_BYTE, geometry_.rank_of(member), wire_.tag, wire_.comm, &both[1]),
               "MPI_Isend");
    engine::Patience patience({.spins = k_looks_before_yield});
    for (int done = 0; done == 0; patience.after(done != 0))
        mpi::check(MPI_Testall(2, both.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    return theirs;
}

bool Pull::run(std::byte const* from, std::byte* to) {
    to_ = {to, strides_of(geometry_.after(), geometry_.order_after(), geometry_.element())};
    Address const mine{peers_.card(), reinterpret_cast<std::uintptr_t>(from)};
    int const members = geometry_.members();
    bool all = true;
    for (int distance = 1; distance < members; ++distance) {
        int const other = (geometry_.me() + members - distance) % members;
        Address const theirs = address_of((geometry_.me() + distance) % members, other, mine);
        node::Remote const array =
            peers_.reach(geometry_.rank_of(other), theirs.card, node::Touch::read).at(theirs.array);
        bool const read = array && read_part(other, array);
        if (!read) peers_.refuse(geometry_.rank_of(other));
        all = all && read;
    }
    int const me = geometry_.me();
    Extents const strides = strides_of(geometry_.before(), geometry_.order_before(), geometry_.element());
    Extents const own{geometry_.x().size(me), geometry_.y().size(me), geometry_.nz()};
    Place const source{const_cast<std::byte*>(from), strides};
    copy_box(to_.moved(geometry_.x().begin(me) * to_.strides[k_x]),
             source.moved(geometry_.y().begin(me) * strides[k_y]), own, geometry_.element());
    report_.kept += Bytes{static_cast<std::uint64_t>(elements_of(own) * geometry_.element())};
    report_.sent +=
        Bytes{static_cast<std::uint64_t>(geometry_.x().size(me) * (geometry_.y().extent() - geometry_.y().size(me)) *
                                         geometry_.nz() * geometry_.element())};
    return all;
}

bool Pull::read_part(int member, node::Remote const& array) {
    int const me = geometry_.me();
    Box const whole{{0, geometry_.y().begin(me), 0},
                    {geometry_.x().size(member), geometry_.y().size(me), geometry_.nz()}};
    if (elements_of(whole.extents) == 0) return true;
    ++report_.pulled;
    report_.received += Bytes{static_cast<std::uint64_t>(elements_of(whole.extents) * geometry_.element())};
    return read_box(member, array, whole);
}

/// Cuts the box along its outermost axis until it fits, and reads it.
bool Pull::read_box(int member, node::Remote const& array, Box const& box) {
    std::size_t const room = std::min(staging_.size(), k_largest_box);
    auto const bytes = static_cast<std::size_t>(elements_of(box.extents) * geometry_.element());
    auto const outermost =
        std::ranges::find_if(geometry_.order_before(), [&](Role role) { return box.extents[role] > 1; });
    if (bytes > room && outermost != geometry_.order_before().end()) {
        std::int64_t const each = static_cast<std::int64_t>(bytes) / box.extents[*outermost];
        std::int64_t const most = std::max<std::int64_t>(1, static_cast<std::int64_t>(room) / each);
        Box part = box;
        for (std::int64_t done = 0; done < box.extents[*outermost]; done += most) {
            part.begin[*outermost] = box.begin[*outermost] + done;
            part.extents[*outermost] = std::min(most, box.extents[*outermost] - done);
            if (!read_box(member, array, part)) return false;
        }
        return true;
    }
    Extents const theirs{geometry_.x().size(member), geometry_.y().extent(), geometry_.nz()};
    if (!read_runs(array, strides_of(theirs, geometry_.order_before(), geometry_.element()), box)) return false;
    Place const staged{staging_.data(), strides_of(box.extents, geometry_.order_before(), geometry_.element())};
    std::int64_t const x = geometry_.x().begin(member) + box.begin[k_x];
    std::int64_t const y = box.begin[k_y] - geometry_.y().begin(geometry_.me());
    copy_box(to_.moved(x * to_.strides[k_x] + y * to_.strides[k_y] + box.begin[k_z] * to_.strides[k_z]), staged,
             box.extents, geometry_.element());
    return true;
}

/// Reads a box into the staging, in the order in which the member stores it: as few pieces as there are.
bool Pull::read_runs(node::Remote const& array, Extents const& strides, Box const& box) {
    std::array<iovec, 64> pieces;
    std::size_t count = 0;
    std::byte* into = staging_.data();
    std::size_t listed = 0;
    auto const read_listed = [&] {
        iovec here{into, listed};
        bool const all = count == 0 || array.read_pieces({&here, 1}, std::span(pieces).first(count));
        into += listed;
        listed = count = 0;
        return all;
    };
    auto const [outer, middle, inner] = geometry_.order_before();
    auto const run = static_cast<std::size_t>(box.extents[inner] * geometry_.element());
    for (std::int64_t i = 0; i < box.extents[outer]; ++i)
        for (std::int64_t k = 0; k < box.extents[middle]; ++k) {
            std::uint64_t const at =
                array.address() + static_cast<std::uint64_t>((box.begin[outer] + i) * strides[outer] +
                                                             (box.begin[middle] + k) * strides[middle] +
                                                             box.begin[inner] * strides[inner]);
            iovec* const last = count > 0 ? &pieces[count - 1] : nullptr;
            listed += run;
            if (last != nullptr && reinterpret_cast<std::uintptr_t>(last->iov_base) + last->iov_len == at) {
                last->iov_len += run;
                continue;
            }
            if (count == pieces.size()) {
                listed -= run;
                if (!read_listed()) return false;
                listed = run;
            }
            pieces[count++] = {reinterpret_cast<void*>(static_cast<std::uintptr_t>(at)), run};
        }
    return read_listed();
}

}  // namespace sluice::transposes
