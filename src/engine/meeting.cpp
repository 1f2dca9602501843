// SPDX-License-Identifier: BSD-3-Clause
#include "engine/meeting.hpp"

#include <algorithm>

#include "engine/patience.hpp"
#include "groups/tags.hpp"
#include "mpi/mpi.hpp"

namespace sluice::engine {

namespace {

// A rank yields its core after this many looks in vain, because there may be more ranks than cores.
constexpr std::uint64_t k_spins_of_meeting = 64;
// One in so many of the looks after them is one at the clock, too.
constexpr std::uint64_t k_looks_of_meeting = 16;

}  // namespace

void Meeting::wait(std::span<MPI_Request, 2> both, Look const& look) const {
#ifdef SLUICE_SIMULATED
    // Simulated time does not pass between two tests, and the simulator itself finds ranks that wait for ever.
    mpi::check(MPI_Waitall(2, both.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    static_cast<void>(look);
#else
    Patience patience({.spins = k_spins_of_meeting});
    for (;;) {
        int done = 0;
        mpi::check(MPI_Testall(2, both.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
        if (done != 0) return;
        patience.after(false);
        if (patience.in_vain() > k_spins_of_meeting && patience.in_vain() % k_looks_of_meeting == 0) look();
    }
#endif
}

void Meeting::most_of_all(Values& values, Look const& look) const {
    Values in;
    Values out;  // stays as it is until it has left
    constexpr int k_bytes = sizeof(Values);
    for (int distance = 1; distance < size_; distance *= 2) {
        out = values;
        std::array<MPI_Request, 2> both{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        mpi::check(MPI_Irecv(in.data(), k_bytes, MPI_BYTE, (rank_ + size_ - distance) % size_,
                             groups::tags::k_meeting.first, comm_, both.data()),
                   "MPI_Irecv");
        mpi::check(MPI_Isend(out.data(), k_bytes, MPI_BYTE, (rank_ + distance) % size_, groups::tags::k_meeting.first,
                             comm_, &both[1]),
                   "MPI_Isend");
        wait(both, look);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = std::max(values[i], in[i]);
    }
}

}  // namespace sluice::engine
