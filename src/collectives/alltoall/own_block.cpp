// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/alltoall/own_block.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace sluice::collectives {

void copy_own_block(Problem const& problem, BothMaps const& maps, AlltoallOutcome& outcome) {
    int const me = problem.rank;
    std::uint64_t const bytes = std::min(problem.bytes_to(me), problem.bytes_from(me));
    if (bytes == 0) return;
    outcome.kept += Bytes{bytes};
    types::PieceCursor from(maps.from, problem.from.address_of(me, maps.from.extent()),
                            static_cast<std::uint64_t>(problem.from.counts.at(me)));
    types::PieceCursor to(maps.to, problem.to.address_of(me, maps.to.extent()),
                          static_cast<std::uint64_t>(problem.to.counts.at(me)));
    if (from.is_contiguous()) {
        if (to.is_contiguous())
            std::memcpy(to.first(), from.first(), bytes);
        else
            types::unpack({from.first(), bytes}, to);
        return;
    }
    for (std::uint64_t left = bytes; left > 0;) {
        types::Piece const piece = to.next(left);
        types::pack(from, {piece.address, piece.bytes});
        left -= piece.bytes;
    }
}

}  // namespace sluice::collectives
