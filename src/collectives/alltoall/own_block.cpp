// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/alltoall/own_block.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "collectives/alltoall/block_message.hpp"
#include "groups/tags.hpp"
#include "mpi/mpi.hpp"

namespace sluice::collectives {

namespace {

/// Copies piece by piece, in the order in which MPI packs.
void copy_pieces(Problem const& problem, std::uint64_t bytes) {
    BothMaps const maps(problem);
    int const me = problem.rank;
    types::PieceCursor from(maps.from, problem.from.address_of(me, maps.from.extent()),
                            static_cast<std::uint64_t>(problem.from.counts.at(me)));
    types::PieceCursor to(maps.to, problem.to.address_of(me, maps.to.extent()),
                          static_cast<std::uint64_t>(problem.to.counts.at(me)));
    if (from.is_contiguous() && to.is_contiguous()) {
        std::memcpy(to.first(), from.first(), bytes);
        return;
    }
    if (from.is_contiguous()) return types::unpack({from.first(), bytes}, to);
    for (std::uint64_t left = bytes; left > 0;) {
        types::Piece const piece = to.next(left);
        types::pack(from, {piece.address, piece.bytes});
        left -= piece.bytes;
    }
}

/// The same by MPI, which knows the types already.
void send_to_itself(Problem const& problem) {
    constexpr int k_tag = groups::tags::k_alltoalls[0];
    std::array<MPI_Request, 2> both{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    receive_block(problem, problem.rank, k_tag, both[0]);
    send_block(problem, problem.rank, k_tag, both[1]);
    mpi::check(MPI_Waitall(2, both.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

/// Whether elements of both sides are the same bytes in the same places, without gaps. A type of its size and extent
/// that begins elsewhere than at its address is left to the pieces.
bool is_flat(Problem const& problem) {
    if (problem.from.type != problem.to.type) return false;
    if (problem.from_extent != static_cast<std::int64_t>(problem.from_element)) return false;
    MPI_Aint low = 0;
    MPI_Aint extent = 0;
    mpi::check(MPI_Type_get_true_extent(problem.from.type, &low, &extent), "MPI_Type_get_true_extent");
    return low == 0 && extent == problem.from_extent;
}

}  // namespace

void copy_own_block(Problem const& problem, AlltoallOutcome& outcome) {
    int const me = problem.rank;
    std::uint64_t const bytes = std::min(problem.bytes_to(me), problem.bytes_from(me));
    if (bytes == 0) return;
    outcome.kept += Bytes{bytes};
    if (is_flat(problem)) {
        std::memcpy(problem.to.address_of(me, problem.to_extent), problem.from.address_of(me, problem.from_extent),
                    bytes);
        return;
    }
    try {
        copy_pieces(problem, bytes);
    } catch (std::bad_alloc const&) {
        send_to_itself(problem);
    }
}

}  // namespace sluice::collectives
