// SPDX-License-Identifier: BSD-3-Clause
// The benchmark `ft`: the problem FT of the NAS Parallel Benchmarks (examples/fft3d) in one form. Prints one JSON
// object; `sluice bench ft` launches it, form by form, with and without a limit of memory, and draws the table. Exit
// code 0; 1 for a checksum that is not the published one, or an error.
#include <mpi.h>

#include <memory>
#include <string>

#include "fft3d/packed_transposes.hpp"
#include "fft3d/planned_transposes.hpp"
#include "fft3d/streamed_transposes.hpp"
#include "fft3d/virtual_processes.hpp"
#include "mpi/mpi.hpp"
#include "sluice/error.hpp"
#include "support/program.hpp"
#include "support/rows.hpp"

namespace sluice::bench {

namespace {

struct Options {
    std::string form = "in_place";
    std::string problem = "A";
    std::string bed = "local";
    int tasks = 8;
    int tokens = 0;

    bool is_in_tasks() const { return form == "tasks" || form == "tasks_normal"; }
};

/// As an MPI program that knows nothing of this library.
fft3d::Solution solve_plainly(fft3d::Problem const& problem) {
    fft3d::PackedTransposes transposes(problem, mpi::rank_in(MPI_COMM_WORLD), mpi::size_of(MPI_COMM_WORLD));
    return solve(problem, transposes, [](std::size_t, fft3d::Complex) {});
}

/// The fft3d form with one part of the array on each rank.
fft3d::Solution solve_by_ranks(Context& context, fft3d::Problem const& problem, std::string const& form) {
    std::unique_ptr<fft3d::Transposes> transposes;
    if (form == "streamed")
        transposes = std::make_unique<fft3d::StreamedTransposes>(context, problem);
    else
        transposes = std::make_unique<fft3d::PlannedTransposes>(context, problem, form == "in_place");
    return solve(problem, *transposes, [](std::size_t, fft3d::Complex) {});
}

fft3d::Solution solution_of(Options const& options, fft3d::Problem const& problem) {
    if (options.form == "plain") return solve_plainly(problem);
    Settings settings = Settings::from_environment();
    if (options.tokens > 0) settings.set("tokens", std::to_string(options.tokens));
    fft3d::Scheme const scheme = options.form == "tasks_normal" ? fft3d::Scheme::normal : fft3d::Scheme::tokens;
    if (options.is_in_tasks()) settings = settings_for(scheme, settings);
    Context context(MPI_COMM_WORLD, settings);
    if (!options.is_in_tasks()) return solve_by_ranks(context, problem, options.form);
    return solve_in_tasks(context, problem, options.tasks, scheme, [](std::size_t, fft3d::Complex) {});
}

void run(Options const& options) {
    fft3d::Problem const& problem = *fft3d::problem_named(options.problem);
    int const rank = mpi::rank_in(MPI_COMM_WORLD);
    int const ranks = mpi::size_of(MPI_COMM_WORLD);
    if (options.form == "plain" && (problem.nz % ranks != 0 || problem.ny % ranks != 0))
        throw Error(ErrorCode::invalid_argument, "the plain form needs a number of ranks that divides " +
                                                     std::to_string(problem.nz) + " and " + std::to_string(problem.ny));
    fft3d::Solution const solution = solution_of(options, problem);
    if (!solution.is_right)
        throw Error(ErrorCode::internal, "class " + options.problem + ", " + options.form + ": a checksum is wrong");
    if (rank != 0) return;
    Row row{
        {"bench", "ft"}, {"case", options.problem}, {"ranks", ranks}, {"mpi", SLUICE_BENCH_MPI}, {"bed", options.bed}};
    row["method"] = options.form;
    row["base_mib"] = static_cast<double>(problem.elements()) * sizeof(fft3d::Complex) / ranks / (1 << 20);
    if (options.is_in_tasks()) row["tasks"] = options.tasks;
    if (options.tokens > 0) row["tokens"] = options.tokens;
    row["seconds"] = solution.seconds;
    row["peak_mib"] = solution.peak_mib;
    row["major_faults"] = solution.major_faults;
    row["message_mib"] = solution.message_mib;
    row["outcome"] = "ok";
    print_row(row);
}

}  // namespace

}  // namespace sluice::bench

int main(int argc, char** argv) {
    sluice::bench::Options options;
    sluice::command_line::CommandLine line("sluice-bench-ft",
                                           "Solves the problem FT of the NAS Parallel Benchmarks (one JSON object)");
    line.option("--form", options.form, "how it transposes")
        .one_of({"plain", "in_place", "out_of_place", "streamed", "tasks", "tasks_normal"});
    line.option("--tasks", options.tasks, "tasks on each rank, for the forms with tasks").between(1, 1024);
    line.option("--tokens", options.tokens, "messages that a rank may hold, for the forms tasks and streamed; 0: bytes")
        .between(0, 1 << 20);
    line.option("--case", options.problem, "class").one_of({"S", "W", "A"});
    line.option("--bed", options.bed, "name of the bed, for the row");
    return sluice::bench::run_program(argc, argv, line, [&] { sluice::bench::run(options); });
}
