// SPDX-License-Identifier: BSD-3-Clause
/// What lives from MPI_Init to MPI_Finalize and services may ask for.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <vector>

#include "mpi/mpi.hpp"
#include "sluice/settings.hpp"

namespace sluice::plugin {

class Service;

struct Job {
    Settings settings;
    mpi::Communicator all;  ///< every rank, for our own traffic; null unless all ranks run under Sluice
    int rank = 0;           ///< in MPI_COMM_WORLD
    int size = 1;
    std::vector<Service*> running;
    bool one_thread = true;  ///< no rank has MPI_THREAD_MULTIPLE
    pid_t process = getpid();
    std::int64_t taken_before_init = 0;  ///< bytes of Sluice; negative if the start gave back more than it took
    bool started = false;
    bool ended = false;
};

}  // namespace sluice::plugin
