// SPDX-License-Identifier: BSD-3-Clause
// An error handler of rank 0 throws an exception through MPI. Where MPI's own frames let it pass, the calls after it
// are as before.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct Refused {
    int code;
};

void throws(MPI_Comm*, int* code, ...) {
    throw Refused{*code};
}

long long exchanged(MPI_Comm comm, int rank, int ranks) {
    constexpr int k_block = 1 << 16;
    std::vector<int> data(static_cast<std::size_t>(ranks) * k_block, rank + 1);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data.data(), k_block, MPI_INT, comm);
    long long sum = 0;
    for (int const value : data)
        sum += value;
    return sum;
}

[[gnu::noinline]] long long deeper(int depth, MPI_Comm comm, int rank, int ranks) {
    char volatile unwritten[4096];
    unwritten[0] = 0;
    return depth > 0 ? deeper(depth - 1, comm, rank, ranks) + unwritten[0] : exchanged(comm, rank, ranks);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Errhandler throwing;
    MPI_Comm_create_errhandler(&throws, &throwing);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, throwing);
    int caught = 0;
    for (int time = 0; rank == 0 && time < 3; ++time) {
        try {
            MPI_Send(&rank, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        } catch (Refused const&) {
            ++caught;
        }
    }
    long long const sum = deeper(3, MPI_COMM_WORLD, rank, ranks);
    std::printf("rank %d caught %d, sum %lld\n", rank, caught, sum);
    MPI_Errhandler_free(&throwing);
    MPI_Finalize();
}
