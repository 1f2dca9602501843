// SPDX-License-Identifier: BSD-3-Clause
/// The MPI library's own call.
#include <array>
#include <cstddef>
#include <vector>

#include "collectives/alltoall/algorithm.hpp"
#include "mpi/mpi.hpp"

namespace sluice::collectives {

namespace {

/// Counts and displacements as MPI's functions of 32 bits take them. They are on the stack, so that no rank lacks the
/// memory alone, unless there are thousands of ranks.
class NarrowLists {
  public:
    explicit NarrowLists(int size) : size_(static_cast<std::size_t>(size)) {
        if (size_ > k_most_on_stack) more_.resize(4 * size_);
    }
    int const* list(std::size_t which, NumberList const& numbers) {
        int* const made = (more_.empty() ? here_.data() : more_.data()) + which * size_;
        for (std::size_t member = 0; member < size_; ++member)
            made[member] = static_cast<int>(numbers.at(static_cast<int>(member)));
        return made;
    }

  private:
    static constexpr std::size_t k_most_on_stack = 2048;
    std::size_t size_;
    std::array<int, 4 * k_most_on_stack> here_;
    std::vector<int> more_;
};

void run_plain_v(Problem const& problem) {
    NarrowLists lists(problem.size);
    mpi::check(MPI_Alltoallv(problem.from.buffer, lists.list(0, problem.from.counts),
                             lists.list(1, problem.from.displacements), problem.from.type, problem.to.buffer,
                             lists.list(2, problem.to.counts), lists.list(3, problem.to.displacements), problem.to.type,
                             problem.comm),
               "MPI_Alltoallv");
}

}  // namespace

void run_plain(Problem const& problem, AlltoallOutcome& outcome) {
    outcome.kept += Bytes{problem.bytes_to(problem.rank)};
    if (problem.from.layout != Blocks::Layout::in_order) return run_plain_v(problem);
    mpi::check(
        MPI_Alltoall(problem.from.buffer, static_cast<int>(problem.from.counts.at(0)), problem.from.type,
                     problem.to.buffer, static_cast<int>(problem.to.counts.at(0)), problem.to.type, problem.comm),
        "MPI_Alltoall");
}

}  // namespace sluice::collectives
