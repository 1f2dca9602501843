// A relaxation over a periodic box of many small cubes, three ways: with all ghost faces exchanged at once, cube by
// cube, and as tasks that fetch. All leave the same bits.
//
//     mpirun -n 4 jacobi3d [form [steps [cubes along an axis [edge [points]]]]]
//     form: all, each, fetch or check (all three; exit code 1 where they differ)      points: 7 or 13
//
// With SLUICE_FETCH_MEMORY or SLUICE_TOKENS the third holds less for its communication, and gets slower, not wrong.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "cube.hpp"

namespace {

using Form = jacobi::Used (*)(jacobi::Box const&, std::vector<jacobi::Cube>&, int);

struct Named {
    char const* name;
    Form form;
};
constexpr Named k_forms[]{{"all", jacobi::all_at_once}, {"each", jacobi::cube_by_cube}, {"fetch", jacobi::by_fetching}};

/// Of all cubes after `steps` steps; prints what it took.
std::uint64_t run(Named const& named, jacobi::Box const& box, int rank, int steps) {
    std::vector<jacobi::Cube> cubes = jacobi::cubes_of(box, rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double const start = MPI_Wtime();
    jacobi::Used const used = named.form(box, cubes, steps);
    MPI_Barrier(MPI_COMM_WORLD);
    double const seconds = MPI_Wtime() - start;
    std::uint64_t sum = 0;
    for (jacobi::Cube const& cube : cubes)
        sum += cube.checksum(steps);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%-5s  %d steps, %.2f ms each, checksum %016llx; rank 0 held at most %.1f KiB for communication\n",
                    named.name, steps, 1000 * seconds / steps, static_cast<unsigned long long>(sum),
                    static_cast<double>(used.peak_bytes) / 1024);
    return sum;
}

int argument(int argc, char** argv, int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    jacobi::Box box;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &box.ranks);
    std::string const form = argc > 1 ? argv[1] : "check";
    int const steps = argument(argc, argv, 2, 20);
    int const along = argument(argc, argv, 3, 4);
    box.cubes = {along, along, along};
    box.edge = argument(argc, argv, 4, 16);
    int const points = argument(argc, argv, 5, 7);
    box.width = points == 13 ? 2 : 1;

    int forms = 0;
    std::uint64_t first = 0;
    bool differ = false;
    bool const usable = steps > 0 && along > 0 && box.edge >= 2 * box.width && box.edge <= jacobi::k_longest_edge &&
                        (points == 7 || points == 13);
    for (Named const& named : k_forms) {
        if (!usable || (form != "check" && form != named.name)) continue;
        std::uint64_t const sum = run(named, box, rank, steps);
        if (forms++ == 0) first = sum;
        differ |= sum != first;
    }
    if (rank == 0 && forms == 0)
        std::fprintf(stderr, "jacobi3d [all|each|fetch|check [steps [cubes along an axis [edge [7 or 13]]]]]\n");
    if (rank == 0 && differ) std::fprintf(stderr, "jacobi3d: the forms differ\n");
    MPI_Finalize();
    return forms == 0 ? 2 : differ ? 1 : 0;
}
