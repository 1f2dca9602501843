// SPDX-License-Identifier: BSD-3-Clause
#include "support/rounds.hpp"

#include <ctime>
#include <string>

#include "groups/agree.hpp"
#include "mpi/mpi.hpp"
#include "support/labels.hpp"
#include "support/memory.hpp"

namespace sluice::bench {

namespace {

/// Processor time of this process, of all its threads.
double processor_time() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class Cell {
  public:
    Cell(Workload const& workload, Watch watch)
        : workload_(workload),
          watch_(watch),
          live_(groups::sum_of(workload.comm, count_live(workload.map, workload.rank))) {}

    /// Makes the first call, which includes what the method sets up for it.
    std::unique_ptr<Method> run_cold(Measured& result) {
        write_labels(array_of(*result.entry, workload_), workload_.rank);
        mpi::check(MPI_Barrier(workload_.comm), "MPI_Barrier");
        watch_(result.entry);
        ResidentWatch const memory;
        std::unique_ptr<Method> method = result.entry->make(*result.entry, workload_);
        method->run();
        std::uint64_t const resident = memory.peak_growth();
        std::uint64_t const standing = memory.standing_growth();
        watch_(nullptr);
        check_result(*result.entry, *method);
        if (std::optional<std::uint64_t> const counted = method->counted_bytes())
            result.counted_bytes = groups::most_of(workload_.comm, *counted);
        if (!result.entry->moves_shared) result.resident_bytes = groups::most_of(workload_.comm, resident);
        result.standing_bytes = groups::most_of(workload_.comm, standing);
        return method;
    }

    void run_timed(Measured& result, Method& method) {
        MethodEntry const& entry = *result.entry;
        write_labels(array_of(entry, workload_), workload_.rank);
        watch_(&entry);
        mpi::check(MPI_Barrier(workload_.comm), "MPI_Barrier");
        double const processor_start = processor_time();
        double const start = MPI_Wtime();
        method.run();
        double seconds = MPI_Wtime() - start;
        double processor_seconds = processor_time() - processor_start;
        watch_(nullptr);
        mpi::check(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, workload_.comm), "MPI_Allreduce");
        mpi::check(MPI_Allreduce(MPI_IN_PLACE, &processor_seconds, 1, MPI_DOUBLE, MPI_SUM, workload_.comm),
                   "MPI_Allreduce");
        check_result(entry, method);
        result.seconds.push_back(seconds);
        result.processor_seconds.push_back(processor_seconds);
    }

  private:
    void check_result(MethodEntry const& entry, Method const& method) {
        if (std::optional<bool> const own = method.own_check()) {
            if (groups::all_true(workload_.comm, *own)) return;
            throw Error(ErrorCode::internal, entry.name + ": wrong result by its own check");
        }
        std::uint64_t const arrived = groups::sum_of(
            workload_.comm, count_arrived(array_of(entry, workload_), workload_.rank, workload_.ranks, workload_.map));
        if (arrived != live_)
            throw Error(ErrorCode::internal, entry.name + ": wrong result, " + std::to_string(arrived) + " of " +
                                                 std::to_string(live_) + " live blocks are in their places");
    }

    Workload const& workload_;
    Watch watch_;
    std::uint64_t live_;
};

}  // namespace

std::vector<Measured> measure_in_turns(Workload const& workload, std::vector<MethodEntry const*> const& chosen,
                                       int rounds, Watch watch) {
    Cell cell(workload, watch);
    std::vector<Measured> results(chosen.size());
    std::vector<std::unique_ptr<Method>> running;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        results[i].entry = chosen[i];
        running.push_back(cell.run_cold(results[i]));
    }
    for (int round = -1; round < rounds; ++round)
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            Measured warm_up;
            warm_up.entry = chosen[i];
            cell.run_timed(round < 0 ? warm_up : results[i], *running[i]);
        }
    return results;
}

}  // namespace sluice::bench
