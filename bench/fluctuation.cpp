// SPDX-License-Identifier: BSD-3-Clause
// The benchmark `fluctuation`: section 4.1 of Y. Shi, G. Zheng and L. V. Kale, "Run-time Support for Controlling
// Communication-Induced Memory Fluctuation" (2007): a relaxation over many small cubes on each rank. Its forms run in
// turns in one launch: all ghost faces at once, cube by cube, and fetched under tokens. Prints one JSON object on each
// line; `sluice bench fluctuation` launches it on its beds and draws the tables. Exit code 0; 1 for a wrong result or
// an error.
#include <mpi.h>

#include <string>
#include <vector>

#include "fluctuation/micro.hpp"
#include "fluctuation/relaxation.hpp"
#include "fluctuation/rows.hpp"
#include "mpi/mpi.hpp"
#include "sluice/error.hpp"
#include "support/program.hpp"
#ifndef SLUICE_SIMULATED_BENCH
#include "fluctuation/neighbour.hpp"
#endif

namespace sluice::bench {

namespace {

struct Options {
    std::string name = "jacobi7";
    std::vector<std::string> methods{"at_once", "cube_by_cube", "fetch"};
    std::vector<int> cubes{4, 4, 4};
    std::string deal = "checkerboard";
    std::string bed = "local";
    double rate_mbit = 0;
    double compute_us = 0;
    RelaxationPlan plan;
};

void add_options(command_line::CommandLine& line, Options& options) {
    RelaxationPlan& plan = options.plan;
    line.option("--case", options.name, "jacobi7, jacobi13 or micro").one_of({"jacobi7", "jacobi13", "micro"});
    line.option("--method", options.methods,
                "at_once, cube_by_cube, fetch, send, paged, compute, exchange, each with :SETTING=VALUE… if needed; "
                "separated by commas")
        .separated_by_commas();
    line.option("--cubes", options.cubes, "of the whole box along x, y, z")
        .separated_by_commas()
        .exactly(3)
        .between(1, 4096);
    line.option("--edge", plan.box.edge, "points of a cube along each axis").between(4, 256);
    line.option("--deal", options.deal, "of the cubes to the ranks: checkerboard, cards or hotspot")
        .one_of({"checkerboard", "cards", "hotspot"});
    line.option("--steps", plan.steps, "that are measured each time a method runs").between(1, 100000);
    line.option("--warm-up", plan.warm_up, "steps before them").between(0, 1000);
    line.option("--pairs", plan.pairs, "times that each method runs, in turns; 1: its steps are what is told")
        .between(1, 1000);
    line.option("--compute-us", options.compute_us, "simulated microseconds that a cube's step takes to compute")
        .not_negative();
    line.option("--neighbour-bytes", plan.neighbour_bytes,
                "each method runs once more while another process takes and gives back so much");
    line.flag("--tell-steps", plan.tell_steps, "a line after each step of rank 0");
    line.option("--bed", options.bed, "name of the bed, for the rows");
    line.option("--rate", options.rate_mbit, "Mbit/s of the bed's wire, for the rows; 0: no wire");
}

Row cell_of(Options const& options) {
    Row cell{{"bench", "fluctuation"},
             {"case", options.name},
             {"ranks", mpi::size_of(MPI_COMM_WORLD)},
             {"mpi", SLUICE_BENCH_MPI},
             {"bed", options.bed}};
    if (options.rate_mbit > 0) cell["rate_mbit"] = options.rate_mbit;
    return cell;
}

void run_relaxation(Options& options) {
    RelaxationPlan& plan = options.plan;
    jacobi::Box& box = plan.box;
    box.cubes = {options.cubes[0], options.cubes[1], options.cubes[2]};
    box.width = options.name == "jacobi13" ? 2 : 1;
    box.ranks = mpi::size_of(MPI_COMM_WORLD);
    box.deal = options.deal == "cards"     ? jacobi::Deal::cards
               : options.deal == "hotspot" ? jacobi::Deal::hotspot
                                           : jacobi::Deal::checkerboard;
    plan.compute_seconds = options.compute_us * 1e-6;
    std::vector<bool> has_cubes(static_cast<std::size_t>(box.ranks));
    for (int cube = 0; cube < box.count(); ++cube)
        has_cubes[static_cast<std::size_t>(box.owner(cube))] = true;
    for (int rank = 0; rank < box.ranks; ++rank)
        if (!has_cubes[static_cast<std::size_t>(rank)])
            throw Error(ErrorCode::invalid_argument, std::to_string(box.count()) + " cubes dealt out by " +
                                                         options.deal + " to " + std::to_string(box.ranks) +
                                                         " ranks leave rank " + std::to_string(rank) + " none");
    std::vector<FluctuationMethod> methods;
    for (std::string const& text : options.methods)
        methods.push_back(FluctuationMethod::from_text(text));

    Row cell = cell_of(options);
    auto const points = static_cast<double>(box.cube_points()) * box.count();
    cell["base_mib"] = 2 * sizeof(double) * points / box.ranks / (1 << 20);
    cell["cubes"] = box.count();
    cell["edge"] = box.edge;
    cell["deal"] = options.deal;
    std::vector<MeasuredMethod> const results = measure_in_turns(plan, methods);
    if (mpi::rank_in(MPI_COMM_WORLD) != 0) return;
    for (Row const& row : fluctuation_rows(cell, plan, results))
        print_row(row);
}

void run(Options& options) {
    if (options.name != "micro") return run_relaxation(options);
    for (Row const& row : micro_rows(cell_of(options), options.plan.pairs))
        print_row(row);
}

}  // namespace

}  // namespace sluice::bench

int main(int argc, char** argv) {
#ifndef SLUICE_SIMULATED_BENCH
    if (sluice::bench::memory_neighbour_main(argc, argv)) return 0;
#endif
    sluice::bench::Options options;
    sluice::command_line::CommandLine line(
        "sluice-bench-fluctuation",
        "A relaxation over many small cubes: faces at once, cube by cube, or fetched (one JSON object on each line)");
    sluice::bench::add_options(line, options);
    return sluice::bench::run_program(argc, argv, line, [&] { sluice::bench::run(options); });
}
