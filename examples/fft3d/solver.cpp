// SPDX-License-Identifier: BSD-3-Clause
#include "solver.hpp"

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

namespace fft3d {

namespace {

/// Peak memory of a process as the kernel counts it, in MiB.
double peak_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

double major_faults() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_majflt);
}

}  // namespace

Problem const& problem_of(int argc, char** argv) {
    Problem const* const problem = problem_named(argc > 1 ? argv[1] : "S");
    if (problem != nullptr) return *problem;
    std::fprintf(stderr, "fft3d: there is no class %s; the classes are S, W and A\n", argv[1]);
    std::exit(2);
}

Watch::Watch() : faults_(major_faults()) {
    MPI_Barrier(MPI_COMM_WORLD);
    start_ = MPI_Wtime();
}

void Watch::end(Solution& solution) const {
    double figures[]{MPI_Wtime() - start_, peak_mib(), major_faults() - faults_, solution.message_mib};
    MPI_Allreduce(MPI_IN_PLACE, figures, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    solution.seconds = figures[0];
    solution.peak_mib = figures[1];
    solution.major_faults = figures[2];
    solution.message_mib = figures[3];
}

Solution solve(Problem const& problem, Transposes& transposes, void (*told)(std::size_t step, Complex sum)) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Share const planes = transposes.planes();
    Share const lines = transposes.lines();
    LineOrder const order = transposes.line_order();
    auto const part = [&] {
        return std::span(transposes.data(), static_cast<std::size_t>(planes.count * problem.nx * problem.ny));
    };
    Transform const forward(problem, -1, transposes.data(), lines, order);
    Transform const inverse(problem, 1, transposes.data(), lines, order);
    fill(problem, part(), planes.first);
    Solution solution;
    Watch const watch;
    for (std::size_t step = 0; step < problem.sums.size(); ++step) {
        forward.planes(transposes.data(), planes);
        transposes.forth();
        forward.lines(transposes.data(), lines);
        evolve(problem, transposes.data(), lines, order);
        inverse.lines(transposes.data(), lines);
        transposes.back();
        inverse.planes(transposes.data(), planes);
        Complex sum = checksum(problem, part(), planes.first);
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) told(step, sum);
        solution.is_right = solution.is_right && is_right(problem, step, sum);
    }
    solution.message_mib = transposes.message_mib();
    watch.end(solution);
    return solution;
}

void print_sum(std::size_t step, Complex sum) {
    std::printf("step %zu: %.12e %.12e\n", step + 1, sum.real(), sum.imag());
}

int report(Problem const& problem, char const* form, Solution const& solution) {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank != 0) return solution.is_right ? 0 : 1;
    std::printf("class %s, %d ranks, %s: %s; %.3f s, %.1f MiB and %.0f major faults on the worst rank\n",
                std::string(problem.name).c_str(), ranks, form, solution.is_right ? "verified" : "WRONG",
                solution.seconds, solution.peak_mib, solution.major_faults);
    if (solution.message_mib > 0) std::printf("messages held at most %.3f MiB at once\n", solution.message_mib);
    return solution.is_right ? 0 : 1;
}

}  // namespace fft3d
