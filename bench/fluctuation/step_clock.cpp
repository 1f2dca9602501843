// SPDX-License-Identifier: BSD-3-Clause
#include "fluctuation/step_clock.hpp"

#include <mpi.h>
#include <sys/resource.h>

#include "mpi/mpi.hpp"

namespace sluice::bench {

namespace {

std::uint64_t major_faults_so_far() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_majflt);
}

}  // namespace

StepClock::StepClock(std::uint64_t own_cubes, int steps, int warm_up)
    : own_cubes_(own_cubes), warm_up_(warm_up), ends_(static_cast<std::size_t>(steps), 0.0) {}

void StepClock::start() {
    started_ = MPI_Wtime();
}

void StepClock::relaxed() {
    if (++relaxed_ % own_cubes_ != 0) return;
    std::uint64_t const step = relaxed_ / own_cubes_ - 1;
    ends_.at(step) = MPI_Wtime() - started_;
    if (static_cast<int>(step) + 1 == warm_up_) faults_before_ = major_faults_so_far();
    if (on_step) on_step(static_cast<int>(step));
}

std::vector<double> StepClock::step_seconds() const {
    std::vector<double> ends(ends_.size());
    mpi::check(
        MPI_Allreduce(ends_.data(), ends.data(), static_cast<int>(ends.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD),
        "MPI_Allreduce");
    std::vector<double> seconds;
    for (auto step = static_cast<std::size_t>(warm_up_); step < ends.size(); ++step)
        seconds.push_back(ends[step] - (step == 0 ? 0.0 : ends[step - 1]));
    return seconds;
}

std::uint64_t StepClock::major_faults() const {
    return major_faults_so_far() - faults_before_;
}

}  // namespace sluice::bench
