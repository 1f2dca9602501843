// SPDX-License-Identifier: BSD-3-Clause
#include "solver.hpp"

#include <fftw3.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace fft3d {

namespace {

fftw_complex* as_fftw(Complex* numbers) {
    return reinterpret_cast<fftw_complex*>(numbers);
}

/// A batch of one-dimensional transforms in place, which is planned without touching the array.
class Batch {
  public:
    /// `count` transforms of `n` numbers that are `stride` apart; the next transform begins `distance` further.
    Batch(std::int64_t n, std::int64_t count, std::int64_t stride, std::int64_t distance, int sign, Complex* array) {
        int const extent = static_cast<int>(n);
        int const step = static_cast<int>(stride);
        plan_ = fftw_plan_many_dft(1, &extent, static_cast<int>(count), as_fftw(array), nullptr, step,
                                   static_cast<int>(distance), as_fftw(array), nullptr, step,
                                   static_cast<int>(distance), sign, FFTW_ESTIMATE | FFTW_UNALIGNED);
    }
    ~Batch() { fftw_destroy_plan(plan_); }
    Batch(Batch const&) = delete;
    Batch& operator=(Batch const&) = delete;
    void run(Complex* array) const { fftw_execute_dft(plan_, as_fftw(array), as_fftw(array)); }

  private:
    fftw_plan plan_ = nullptr;
};

/// Transforms along all axes, with one transpose in between.
class Transform {
  public:
    Transform(Problem const& problem, Transposes& transposes, int sign)
        : problem_(problem),
          transposes_(transposes),
          along_x_(problem.nx, problem.ny, 1, problem.nx, sign, transposes.data()),
          along_y_(problem.ny, problem.nx, problem.nx, 1, sign, transposes.data()),
          along_z_(problem.nz, problem.nx, 1, problem.nz, sign, transposes.data()) {}

    void forward() const {
        transform_planes();
        transposes_.forth();
        transform_lines();
    }
    void inverse() const {
        transform_lines();
        transposes_.back();
        transform_planes();
    }

  private:
    void transform_planes() const {
        for (std::int64_t z = 0; z < transposes_.planes().count; ++z) {
            Complex* const plane = transposes_.data() + z * problem_.nx * problem_.ny;
            along_x_.run(plane);
            along_y_.run(plane);
        }
    }
    void transform_lines() const {
        for (std::int64_t y = 0; y < transposes_.lines().count; ++y)
            along_z_.run(transposes_.data() + y * problem_.nx * problem_.nz);
    }

    Problem const& problem_;
    Transposes& transposes_;
    Batch along_x_;
    Batch along_y_;
    Batch along_z_;
};

/// One time step of all waves, which are stored as [y][x][z]. Also divides by the number of elements, which the two
/// transforms multiply with.
void evolve(Problem const& problem, Transposes& transposes) {
    auto const factors = [](std::int64_t n) {
        std::vector<double> all(static_cast<std::size_t>(n));
        for (std::int64_t k = 0; k < n; ++k)
            all[static_cast<std::size_t>(k)] = decay(k, n);
        return all;
    };
    std::vector<double> const of_x = factors(problem.nx);
    std::vector<double> const of_z = factors(problem.nz);
    Complex* next = transposes.data();
    Share const lines = transposes.lines();
    for (std::int64_t y = lines.first; y < lines.first + lines.count; ++y) {
        double const of_y = decay(y, problem.ny) / static_cast<double>(problem.elements());
        for (double const x : of_x)
            for (double const z : of_z)
                *next++ *= of_y * x * z;
    }
}

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

Solution solve(Problem const& problem, Transposes& transposes, void (*told)(std::size_t step, Complex sum)) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Share const planes = transposes.planes();
    auto const part = [&] {
        return std::span(transposes.data(), static_cast<std::size_t>(planes.count * problem.nx * problem.ny));
    };
    Transform const forward(problem, transposes, FFTW_FORWARD);
    Transform const inverse(problem, transposes, FFTW_BACKWARD);
    fill(problem, part(), planes.first);
    Solution solution;
    double const faults = major_faults();
    MPI_Barrier(MPI_COMM_WORLD);
    double const start = MPI_Wtime();
    for (std::size_t step = 0; step < problem.sums.size(); ++step) {
        forward.forward();
        evolve(problem, transposes);
        inverse.inverse();
        Complex sum = checksum(problem, part(), planes.first);
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) told(step, sum);
        solution.is_right = solution.is_right && is_right(problem, step, sum);
    }
    double figures[3]{MPI_Wtime() - start, peak_mib(), major_faults() - faults};
    MPI_Allreduce(MPI_IN_PLACE, figures, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    solution.seconds = figures[0];
    solution.peak_mib = figures[1];
    solution.major_faults = figures[2];
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
    if (rank == 0)
        std::printf("class %s, %d ranks, %s: %s; %.3f s, %.1f MiB and %.0f major faults on the worst rank\n",
                    std::string(problem.name).c_str(), ranks, form, solution.is_right ? "verified" : "WRONG",
                    solution.seconds, solution.peak_mib, solution.major_faults);
    return solution.is_right ? 0 : 1;
}

}  // namespace fft3d
