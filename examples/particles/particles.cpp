// SPDX-License-Identifier: BSD-3-Clause
// Bodies move through time in a periodic box; every few steps they are distributed again along a Hilbert curve, so that
// each rank holds equally many and a compact region. The program knows only the rank that each body goes to. Positions,
// velocities and ids are vectors of their own: one plan chooses the slots and moves all three in place at each
// rebalance. A rank's share has always the same size, so none of them grows.
//
//     mpirun -n 4 particles [bodies [steps]]
//
// The program checks, and reports by its exit code, that no body is lost or doubled, that the total energy is
// conserved, and that in the end each body is, to the last bit, where it would be if it had never left its first rank.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "bodies.hpp"
#include "curve_balance.hpp"
#include "sluice/rank_plan.hpp"

namespace {

using particles::Bodies;
using particles::share_begin;

constexpr double k_time_step = 0.002;
constexpr int k_steps_between = 25;

template <typename T>
T sum_over_ranks(T value, MPI_Datatype type) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, type, MPI_SUM, MPI_COMM_WORLD);
    return value;
}

Bodies first_share(sluice::Context const& context, std::uint64_t total) {
    Bodies bodies;
    std::uint64_t const end = share_begin(total, context.rank() + 1, context.size());
    for (std::uint64_t id = share_begin(total, context.rank(), context.size()); id < end; ++id)
        particles::add_body(bodies, id);
    return bodies;
}

sluice::RedistributionReport rebalance(sluice::Context& context, Bodies& bodies, std::uint64_t total) {
    sluice::RankPlan plan(context, particles::balanced_along_curve(bodies, total, MPI_COMM_WORLD));
    return plan.apply(sluice::Resize::must_fit, bodies.position, bodies.velocity, bodies.id);
}

/// Counts ids that are out of range, twice on this rank or, by the sum over all ranks, missing.
std::uint64_t lost_or_doubled(Bodies const& bodies, std::uint64_t total) {
    std::vector<unsigned char> seen(total);
    for (std::size_t i = 0; i < bodies.count(); ++i)
        if (bodies.id[i] < total) seen[bodies.id[i]] = static_cast<unsigned char>(seen[bodies.id[i]] + 1);
    MPI_Allreduce(MPI_IN_PLACE, seen.data(), static_cast<int>(total), MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
    std::uint64_t wrong = 0;
    for (unsigned char const times : seen)
        wrong += times != 1;
    return wrong;
}

/// Counts bodies that are not exactly where they would be without rebalancing.
std::uint64_t strayed(Bodies const& bodies, int steps) {
    Bodies alone;
    for (std::size_t i = 0; i < bodies.count(); ++i)
        particles::add_body(alone, bodies.id[i]);
    for (int step = 0; step < steps; ++step)
        particles::advance(alone, k_time_step);
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < bodies.count(); ++i)
        wrong += alone.position[i] != bodies.position[i] || alone.velocity[i] != bodies.velocity[i];
    return sum_over_ranks(wrong, MPI_UINT64_T);
}

int run(std::uint64_t total, int steps) {
    sluice::Context context(MPI_COMM_WORLD);
    bool const speaks = context.rank() == 0;
    Bodies bodies = first_share(context, total);
    double const energy_before = sum_over_ranks(particles::energy(bodies), MPI_DOUBLE);
    if (speaks)
        std::printf("%llu bodies on %d ranks, energy %.9f\n%6s %12s %12s %10s %12s %14s\n",
                    static_cast<unsigned long long>(total), context.size(), energy_before, "step", "changed rank",
                    "sent KiB", "ms", "extra KiB", "energy change");

    double worst_change = 0;
    for (int step = 1; step <= steps; ++step) {
        particles::advance(bodies, k_time_step);
        if (step % k_steps_between != 0 && step != steps) continue;
        sluice::RedistributionReport const report = rebalance(context, bodies, total);
        double const change = sum_over_ranks(particles::energy(bodies), MPI_DOUBLE) / energy_before - 1;
        worst_change = std::max(worst_change, std::abs(change));
        std::uint64_t const sent = sum_over_ranks(report.blocks_sent, MPI_UINT64_T) / 3;  // three arrays
        std::uint64_t const bytes = sum_over_ranks(report.bytes_sent.count, MPI_UINT64_T);
        if (speaks)
            std::printf("%6d %12llu %12.1f %10.2f %12.1f %14.2e\n", step, static_cast<unsigned long long>(sent),
                        static_cast<double>(bytes) / 1024, report.seconds() * 1e3,
                        static_cast<double>(report.extra_peak.count) / 1024, change);
    }

    std::uint64_t const lost = lost_or_doubled(bodies, total);
    std::uint64_t const astray = strayed(bodies, steps);
    if (speaks)
        std::printf("lost or doubled: %llu, not where they belong: %llu, energy kept within %.1e\n",
                    static_cast<unsigned long long>(lost), static_cast<unsigned long long>(astray), worst_change);
    return lost == 0 && astray == 0 && worst_change < 1e-4 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    std::uint64_t const total = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200'000;
    int const steps = argc > 2 ? std::atoi(argv[2]) : 200;
    int code = EXIT_FAILURE;
    try {
        code = run(total, steps);
    } catch (sluice::Error const& error) {
        std::fprintf(stderr, "particles: %s\n", error.what());
    }
    MPI_Finalize();
    return code;
}
