// SPDX-License-Identifier: BSD-3-Clause
#include "curve_balance.hpp"

#include <algorithm>
#include <cstddef>

#include "common/hilbert.hpp"

namespace particles {

namespace {

constexpr unsigned k_order = 6;
constexpr std::uint32_t k_side = 1U << k_order;
constexpr std::size_t k_cells = std::size_t{k_side} * k_side;

std::size_t cell_of(Vector at) {
    auto const part = [](double x) { return std::min(static_cast<std::uint32_t>(x * k_side), k_side - 1); };
    return examples::hilbert_position(k_order, {part(at.x), part(at.y)});
}

}  // namespace

std::vector<int> balanced_along_curve(Bodies const& bodies, std::uint64_t total, MPI_Comm comm) {
    int ranks = 0;
    MPI_Comm_size(comm, &ranks);
    int rank = 0;
    MPI_Comm_rank(comm, &rank);

    std::vector<std::uint64_t> here(k_cells);
    for (std::size_t i = 0; i < bodies.count(); ++i)
        ++here[cell_of(bodies.position[i])];
    std::vector<std::uint64_t> next(k_cells);  // first: the bodies of each cell on lower ranks
    MPI_Exscan(here.data(), next.data(), static_cast<int>(k_cells), MPI_UINT64_T, MPI_SUM, comm);
    if (rank == 0) std::fill(next.begin(), next.end(), 0);
    MPI_Allreduce(MPI_IN_PLACE, here.data(), static_cast<int>(k_cells), MPI_UINT64_T, MPI_SUM, comm);
    std::uint64_t before = 0;
    for (std::size_t cell = 0; cell < k_cells; ++cell) {  // now: the place of this rank's next body in that cell
        next[cell] += before;
        before += here[cell];
    }

    std::vector<int> owners;
    for (std::size_t i = 0; i < bodies.count(); ++i) {
        std::uint64_t const place = next[cell_of(bodies.position[i])]++;
        int owner = static_cast<int>(place * static_cast<std::uint64_t>(ranks) / total);
        while (place < share_begin(total, owner, ranks))
            --owner;
        while (place >= share_begin(total, owner + 1, ranks))
            ++owner;
        owners.push_back(owner);
    }
    return owners;
}

}  // namespace particles
