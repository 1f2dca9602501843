// SPDX-License-Identifier: BSD-3-Clause
#include "engine/all_ranks.hpp"

#include <cmath>
#include <string>

#include "engine/patience.hpp"
#include "engine/told_line.hpp"
#include "engine/wait_clock.hpp"
#include "mpi/mpi.hpp"

namespace sluice::engine {

#ifdef SLUICE_SIMULATED

// Its MPI_Ibarrier is wrong (groups/nonblocking_barrier.hpp), and it finds ranks that wait for ever by itself.
MPI_Comm entered_by_all(MPI_Comm comm, Settings const&) {
    return comm;
}

#else

MPI_Comm entered_by_all(MPI_Comm comm, Settings const& settings) {
    constexpr std::uint64_t k_looks_before_yield = 64;
    constexpr std::uint64_t k_looks_between_clocks = 16;
    auto const after = static_cast<double>(settings.waiting_told_after);
    MPI_Request all = MPI_REQUEST_NULL;
    mpi::check(MPI_Ibarrier(comm, &all), "MPI_Ibarrier");
    Patience patience({.spins = k_looks_before_yield});
    WaitClock clock;
    bool is_told = after <= 0;
    while (!mpi::is_complete(all)) {
        patience.after(false);
        if (is_told || patience.in_vain() % k_looks_between_clocks != 0 || clock.look(MPI_Wtime()) < after) continue;
        is_told = true;
        tell_line("rank " + std::to_string(mpi::rank_in(comm)) + " has waited " +
                  std::to_string(std::lround(clock.waited())) + " s in Context for ranks that have not entered it");
    }
    return comm;
}

#endif

}  // namespace sluice::engine
