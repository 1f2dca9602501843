// SPDX-License-Identifier: BSD-3-Clause
// A relaxation over a periodic box of many small cubes, five ways: with all ghost faces exchanged at once, cube by
// cube, as tasks that fetch, as tasks that send, and as tasks that fetch with the points in a file. All five leave the
// same bits.
//
//     mpirun -n 4 jacobi3d [form [steps [cubes [edge [points]]]]]
//     form: all, each, fetch, send, paged or check (all five; exit code 1 if they differ)
//     cubes: along an axis, 8 or 8x8x12      points: 7 or 13
//
// With SLUICE_FETCH_MEMORY or SLUICE_TOKENS the forms that fetch hold less memory for communication; they become
// slower, not wrong. The last form holds SLUICE_PAGED_MEMORY of the points in memory. With SLUICE_SEND_CONTROL=off
// faces are sent at once.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cube.hpp"

namespace {

using Form = jacobi::Used (*)(jacobi::Box const&, std::vector<jacobi::Cube>&, int);

/// Measures the time of a whole form, and of each step on this rank: a step ends when the last of the rank's cubes has
/// made it.
class Clock {
  public:
    explicit Clock(jacobi::Box& box, int rank) : cubes_(jacobi::numbers_of(box, rank).size()) {
        box.relaxed = [this] {
            if (++relaxed_ % cubes_ == 0) ends_.push_back(MPI_Wtime());
        };
    }
    void start() {
        MPI_Barrier(MPI_COMM_WORLD);
        start_ = MPI_Wtime();
    }
    void stop() {
        MPI_Barrier(MPI_COMM_WORLD);
        seconds_ = MPI_Wtime() - start_;
    }
    double seconds() const { return seconds_; }
    double slowest_step() const {
        double slowest = 0;
        double last = start_;
        for (double const end : ends_) {
            slowest = std::max(slowest, end - last);
            last = end;
        }
        return slowest;
    }

  private:
    std::size_t cubes_;
    std::size_t relaxed_ = 0;
    std::vector<double> ends_;
    double start_ = 0;
    double seconds_ = 0;
};

struct Outcome {
    jacobi::Used used;
    std::uint64_t checksum = 0;
};

template <Form form>
Outcome in_memory(jacobi::Box const& box, int rank, int steps, Clock& clock) {
    std::vector<jacobi::Cube> cubes = jacobi::cubes_of(box, rank);
    clock.start();
    Outcome outcome{form(box, cubes, steps)};
    clock.stop();
    for (jacobi::Cube const& cube : cubes)
        outcome.checksum += cube.checksum(steps);
    return outcome;
}

Outcome in_a_file(jacobi::Box const& box, int rank, int steps, Clock& clock) {
    jacobi::PagedCubes cubes(box, rank);
    clock.start();
    Outcome outcome{cubes.relax(steps)};
    clock.stop();
    sluice::PagedReport const report = cubes.report();
    if (rank == 0)
        std::printf(
            "rank 0: %llu blocks brought, %llu written back, %llu of %llu parts found in memory; blocks held at most "
            "%.1f MiB\n",
            static_cast<unsigned long long>(report.brought), static_cast<unsigned long long>(report.written),
            static_cast<unsigned long long>(report.parts_found), static_cast<unsigned long long>(report.parts),
            static_cast<double>(report.peak.count) / (1 << 20));
    outcome.checksum = cubes.checksum(steps);
    return outcome;
}

struct Named {
    char const* name;
    Outcome (*run)(jacobi::Box const&, int rank, int steps, Clock&);
};
constexpr Named k_forms[]{{"all", in_memory<jacobi::all_at_once>},
                          {"each", in_memory<jacobi::cube_by_cube>},
                          {"fetch", in_memory<jacobi::by_fetching>},
                          {"send", in_memory<jacobi::by_sending>},
                          {"paged", in_a_file}};

/// Runs a form and prints its time and memory; returns the checksum of all cubes after `steps` steps.
std::uint64_t run(Named const& named, jacobi::Box box, int rank, int steps) {
    Clock clock(box, rank);
    Outcome const outcome = named.run(box, rank, steps, clock);
    std::uint64_t sum = outcome.checksum;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf(
            "%-5s  %d steps, %.2f ms each, slowest %.2f, checksum %016llx; rank 0 held at most %.1f KiB for "
            "communication\n",
            named.name, steps, 1000 * clock.seconds() / steps, 1000 * clock.slowest_step(),
            static_cast<unsigned long long>(sum), static_cast<double>(outcome.used.peak_bytes) / 1024);
    return sum;
}

/// Parses "8" or "8x8x12"; returns zeros for any other text.
std::array<int, 3> cubes_from(char const* text) {
    std::array<int, 3> cubes{};
    int const read = std::sscanf(text, "%dx%dx%d", &cubes[0], &cubes[1], &cubes[2]);
    if (read == 1) cubes = {cubes[0], cubes[0], cubes[0]};
    return read == 2 ? std::array<int, 3>{} : cubes;
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
    if (argc > 3) box.cubes = cubes_from(argv[3]);
    box.edge = argument(argc, argv, 4, 16);
    int const points = argument(argc, argv, 5, 7);
    box.width = points == 13 ? 2 : 1;

    int forms = 0;
    std::uint64_t first = 0;
    bool differ = false;
    bool const usable = steps > 0 && std::ranges::min(box.cubes) > 0 && box.edge >= 2 * box.width &&
                        box.edge <= jacobi::k_longest_edge && (points == 7 || points == 13);
    for (Named const& named : k_forms) {
        if (!usable || (form != "check" && form != named.name)) continue;
        std::uint64_t const sum = run(named, box, rank, steps);
        if (forms++ == 0) first = sum;
        differ |= sum != first;
    }
    if (rank == 0 && forms == 0)
        std::fprintf(
            stderr,
            "jacobi3d [all|each|fetch|send|paged|check [steps [cubes along an axis, or 8x8x12 [edge [7 or 13]]]]]\n");
    if (rank == 0 && differ) std::fprintf(stderr, "jacobi3d: the forms differ\n");
    MPI_Finalize();
    return forms == 0 ? 2 : differ ? 1 : 0;
}
