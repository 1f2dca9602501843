// SPDX-License-Identifier: BSD-3-Clause
// The plain form, an ordinary MPI program: its transposes pack, call MPI_Alltoall and unpack, and need a second array.
//
//     mpirun -n 4 fft3d_plain [S|W|A]
//
// The exit code is 1 if a checksum is not the published one. The number of ranks divides nz and ny.
#include <mpi.h>

#include <cstdio>

#include "packed_transposes.hpp"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    fft3d::Problem const& problem = fft3d::problem_of(argc, argv);
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (problem.nz % ranks != 0 || problem.ny % ranks != 0) {
        std::fprintf(stderr, "fft3d_plain: %d ranks do not divide %ld and %ld\n", ranks, static_cast<long>(problem.nz),
                     static_cast<long>(problem.ny));
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int code = 0;
    {
        fft3d::PackedTransposes transposes(problem, rank, ranks);
        code = report(problem, "MPI_Alltoall and two arrays", solve(problem, transposes, fft3d::print_sum));
    }
    MPI_Finalize();
    return code;
}
