// SPDX-License-Identifier: BSD-3-Clause
/// Short forms of calls on MPI_COMM_WORLD, for small programs.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <string>
#include <vector>

namespace examples {

inline int rank_of_world() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

inline int size_of_world() {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

/// Collective. Returns MPI_MAX, MPI_SUM … of one number over all ranks.
inline double over_ranks(double value, MPI_Op operation) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    return value;
}

/// Prints into a string, as printf does.
template <typename... Values>
std::string text(char const* format, Values... values) {
    std::vector<char> buffer(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, values...)) + 1);
    std::snprintf(buffer.data(), buffer.size(), format, values...);
    return buffer.data();
}

/// Prints on rank 0 and flushes.
template <typename... Values>
void say(char const* format, Values... values) {
    if (rank_of_world() != 0) return;
    std::fputs(text(format, values...).c_str(), stdout);
    std::fflush(stdout);
}

}  // namespace examples
