// SPDX-License-Identifier: BSD-3-Clause
// The problem FT of the NAS Parallel Benchmarks with transposes of Sluice, in five forms. Any number of ranks.
//
//     mpirun -n 4 fft3d [S|W|A] [in-place|out-of-place|streamed|tasks|tasks-normal] [tasks a rank]
//
//     in-place       one array, sluice::transpose
//     out-of-place   from one array into another, sluice::transpose
//     streamed       one array and an eighth, sluice::ExchangePlan
//     tasks          many tasks on each rank (8), whose parts come under tokens: SLUICE_TOKENS=4, sluice::Store
//     tasks-normal   the same, with everything sent at once
//
// The exit code is 1 if a checksum is not the published one.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "planned_transposes.hpp"
#include "streamed_transposes.hpp"
#include "virtual_processes.hpp"

namespace {

/// Returns the exit code.
int run_in_tasks(fft3d::Problem const& problem, fft3d::Scheme scheme, int tasks) {
    sluice::Context context(MPI_COMM_WORLD, settings_for(scheme, sluice::Settings::from_environment()));
    std::string const form = std::to_string(tasks) + " tasks a rank, " +
                             (scheme == fft3d::Scheme::normal ? "all parts at once" : "parts under tokens");
    return report(problem, form.c_str(), solve_in_tasks(context, problem, tasks, scheme, fft3d::print_sum));
}

int run(fft3d::Problem const& problem, std::string const& form, int tasks) {
    if (form == "tasks") return run_in_tasks(problem, fft3d::Scheme::tokens, tasks);
    if (form == "tasks-normal") return run_in_tasks(problem, fft3d::Scheme::normal, tasks);
    sluice::Context context(MPI_COMM_WORLD);
    if (form == "streamed") {
        fft3d::StreamedTransposes transposes(context, problem);
        return report(problem, "streamed exchanges", solve(problem, transposes, fft3d::print_sum));
    }
    if (form == "in-place" || form == "out-of-place") {
        fft3d::PlannedTransposes transposes(context, problem, form == "in-place");
        char const* const told = form == "in-place" ? "transposes in place" : "transposes into a second array";
        return report(problem, told, solve(problem, transposes, fft3d::print_sum));
    }
    if (context.rank() == 0)
        std::fprintf(stderr,
                     "fft3d: there is no form %s; the forms are in-place, out-of-place, streamed, tasks and "
                     "tasks-normal\n",
                     form.c_str());
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    fft3d::Problem const& problem = fft3d::problem_of(argc, argv);
    int code = 0;
    try {
        code = run(problem, argc > 2 ? argv[2] : "in-place", argc > 3 ? std::atoi(argv[3]) : 8);
    } catch (sluice::Error const& error) {
        std::fprintf(stderr, "fft3d: %s\n", error.what());
        code = 2;
    }
    MPI_Finalize();
    return code;
}
