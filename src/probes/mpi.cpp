// SPDX-License-Identifier: BSD-3-Clause
// Prints the properties of this MPI as one JSON object: run on one rank by `sluice doctor`.
#include <mpi.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "mpi/library_name.hpp"

namespace {

char const* name_of(int level) {
    if (level == MPI_THREAD_SINGLE) return "SINGLE";
    if (level == MPI_THREAD_FUNNELED) return "FUNNELED";
    if (level == MPI_THREAD_SERIALIZED) return "SERIALIZED";
    return level == MPI_THREAD_MULTIPLE ? "MULTIPLE" : "unknown";
}

}  // namespace

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    int major = 0;
    int minor = 0;
    MPI_Get_version(&major, &minor);
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    nlohmann::ordered_json const row{{"asked", name_of(MPI_THREAD_MULTIPLE)},
                                     {"provided", name_of(provided)},
                                     {"library", sluice::mpi::library_name()},
                                     {"standard", std::to_string(major) + "." + std::to_string(minor)},
                                     {"ranks", ranks}};
    MPI_Finalize();
    std::puts(row.dump().c_str());
    return 0;
}
