// SPDX-License-Identifier: BSD-3-Clause
// The problem FT of the NAS Parallel Benchmarks with transposes of Sluice: in place, so that one array suffices, or
// from one array into another. Any number of ranks.
//
//     mpirun -n 4 fft3d [S|W|A] [in-place|out-of-place]
//
// The exit code is 1 if a checksum is not the published one.
#include <mpi.h>

#include <cstring>

#include "planned_transposes.hpp"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    fft3d::Problem const& problem = fft3d::problem_of(argc, argv);
    bool const in_place = argc < 3 || std::strcmp(argv[2], "out-of-place") != 0;
    int code = 0;
    {
        sluice::Context context(MPI_COMM_WORLD);
        fft3d::PlannedTransposes transposes(context, problem, in_place);
        char const* const form = in_place ? "transposes in place" : "transposes into a second array";
        code = report(problem, form, solve(problem, transposes, fft3d::print_sum));
    }
    MPI_Finalize();
    return code;
}
