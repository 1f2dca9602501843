// SPDX-License-Identifier: BSD-3-Clause
#include "fluctuation/relaxation.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "fluctuation/step_clock.hpp"
#include "groups/agree.hpp"
#include "mpi/mpi.hpp"
#include "sluice/error.hpp"
#include "support/memory.hpp"
#include "support/rows.hpp"
#ifndef SLUICE_SIMULATED_BENCH
#include "fluctuation/neighbour.hpp"
#endif

namespace sluice::bench {

namespace {

#ifdef SLUICE_SIMULATED_BENCH
constexpr bool k_simulated = true;
#else
constexpr bool k_simulated = false;
#endif

/// In the simulator this takes simulated time; elsewhere points are really computed.
void compute_for([[maybe_unused]] double seconds) {
#ifdef SLUICE_SIMULATED_BENCH
    if (seconds > 0) usleep(static_cast<useconds_t>(seconds * 1e6));
#endif
}

class Relaxation {
  public:
    explicit Relaxation(RelaxationPlan const& plan) : plan_(plan), box_(plan.box) {
#ifndef SLUICE_SIMULATED_BENCH
        if (plan.neighbour_bytes > 0 && mpi::rank_in(MPI_COMM_WORLD) == 0)
            neighbour_ = std::make_unique<MemoryNeighbour>(plan.neighbour_bytes);
#endif
    }

    /// Makes one run. `first`: measures its memory, too. The result is added to `to` if `keep` is true.
    void run(MeasuredMethod& to, bool first, bool keep) {
        int const steps = plan_.warm_up + plan_.steps;
        StepClock clock(jacobi::numbers_of(box_, mpi::rank_in(MPI_COMM_WORLD)).size(), steps, plan_.warm_up);
        watch(clock, to);
        std::uint64_t const rounds_before = neighbour_rounds();
        std::optional<ResidentWatch> memory;
        auto const begin = [&] {
            if (first && !k_simulated) memory.emplace();  // simulated ranks share a process
            mpi::check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
            clock.start();
        };
        std::uint64_t faults = 0;
        std::uint64_t grown = 0;
        auto const end = [&] {
            faults = clock.major_faults();
            grown = memory ? memory->peak_growth() : 0;
        };
        std::uint64_t checksum = 0;
        jacobi::Used used;
        if (to.method.in_file) {
            cubes_.clear();
            used = to.method.run_in_file(box_, steps, begin, end, checksum);
        } else {
            fill_cubes();
            begin();
            used = to.method.run(box_, cubes_, steps);
            end();
            for (jacobi::Cube const& cube : cubes_)
                checksum += cube.checksum(steps);
        }
        to.counted_bytes = std::max(to.counted_bytes, groups::most_of(MPI_COMM_WORLD, used.peak_bytes));
        if (first) to.resident_bytes = groups::most_of(MPI_COMM_WORLD, grown);
        std::vector<double> const seconds = clock.step_seconds();
        double const all_faults = static_cast<double>(groups::sum_of(MPI_COMM_WORLD, faults)) / plan_.steps;
        if (keep) {
            to.major_faults += all_faults;
            if (plan_.pairs == 1)
                to.seconds = seconds;
            else
                to.seconds.push_back(std::accumulate(seconds.begin(), seconds.end(), 0.0) / plan_.steps);
            to.neighbour_rounds +=
                groups::sum_of(MPI_COMM_WORLD, to.beside_neighbour ? neighbour_rounds() - rounds_before : 0);
        }
        check(to, checksum);
    }

  private:
    void watch(StepClock& clock, MeasuredMethod const& method) {
        double const seconds = method.method.part == FluctuationMethod::Part::exchange ? 0 : plan_.compute_seconds;
        box_.relaxed = [&clock, seconds] {
            compute_for(seconds);
            clock.relaxed();
        };
        bool const speaks = plan_.tell_steps && mpi::rank_in(MPI_COMM_WORLD) == 0;
        clock.on_step = [this, speaks, &method](int step) {
            if (speaks) print_row(Row{{"method", method.method.name}, {"step", step + 1}});
            if (method.beside_neighbour) tell_neighbour(step);
        };
    }

    void fill_cubes() {
        if (cubes_.empty()) {
            cubes_ = jacobi::cubes_of(box_, mpi::rank_in(MPI_COMM_WORLD));
            return;
        }
        for (jacobi::Cube& cube : cubes_)
            cube.fill();
    }

    /// The neighbour takes its memory in the middle half of the steps.
    void tell_neighbour([[maybe_unused]] int step) {
#ifndef SLUICE_SIMULATED_BENCH
        if (!neighbour_) return;
        if (step == plan_.warm_up + plan_.steps / 4) neighbour_->take();
        if (step == plan_.warm_up + plan_.steps * 3 / 4) neighbour_->give_back();
#endif
    }

    std::uint64_t neighbour_rounds() {
#ifndef SLUICE_SIMULATED_BENCH
        if (neighbour_) return neighbour_->times_taken();
#endif
        return 0;
    }

    /// Checks that every method leaves the same bits.
    void check(MeasuredMethod& of, std::uint64_t mine) {
        if (of.method.part != FluctuationMethod::Part::whole) return;
        of.checksum = groups::sum_of(MPI_COMM_WORLD, mine);
        if (!checksum_) checksum_ = of.checksum;
        if (*checksum_ != of.checksum)
            throw Error(ErrorCode::internal, of.method.name + " " + of.method.text + ": wrong result, checksum " +
                                                 std::to_string(of.checksum) + " and not " +
                                                 std::to_string(*checksum_));
    }

    RelaxationPlan const& plan_;
    jacobi::Box box_;
    std::vector<jacobi::Cube> cubes_;  // empty while points are in a file
    std::optional<std::uint64_t> checksum_;
#ifndef SLUICE_SIMULATED_BENCH
    std::unique_ptr<MemoryNeighbour> neighbour_;  // on rank 0 only
#endif
};

}  // namespace

std::vector<MeasuredMethod> measure_in_turns(RelaxationPlan const& plan,
                                             std::vector<FluctuationMethod> const& methods) {
    std::vector<MeasuredMethod> results;
    for (FluctuationMethod const& method : methods) {
        results.emplace_back().method = method;
        if (plan.neighbour_bytes == 0) continue;
        results.emplace_back().method = method;
        results.back().beside_neighbour = true;
    }
    Relaxation relaxation(plan);
    int const first = plan.pairs > 1 ? -1 : 0;
    for (int round = first; round < plan.pairs; ++round)
        for (MeasuredMethod& result : results)
            relaxation.run(result, round == first, round >= 0);
    for (MeasuredMethod& result : results) {
        result.major_faults /= plan.pairs;
        if (result.beside_neighbour && result.neighbour_rounds == 0)
            throw Error(ErrorCode::internal, "the other process never had its " + std::to_string(plan.neighbour_bytes) +
                                                 " bytes within " + std::to_string(plan.steps / 2) + " steps of " +
                                                 result.method.name + "; more steps (--steps) give it time");
    }
    return results;
}

std::uint64_t bytes_moved(jacobi::Box const& box) {
    std::vector<std::uint64_t> faces(static_cast<std::size_t>(box.ranks), 0);
    for (int cube = 0; cube < box.count(); ++cube)
        for (int side = 0; side < jacobi::k_sides; ++side)
            if (box.owner(box.neighbour(cube, side)) != box.owner(cube))
                ++faces[static_cast<std::size_t>(box.owner(cube))];
    return *std::max_element(faces.begin(), faces.end()) * box.face_points() * sizeof(double);
}

}  // namespace sluice::bench
