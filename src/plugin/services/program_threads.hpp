// SPDX-License-Identifier: BSD-3-Clause
/// The threads of a process that are the program's: all but those that MPI_Init made and those of Sluice. Where one
/// that MPI_Init made has ended, one of the program's is not counted.
#pragma once

#include <cstdint>

#include "kernel/thread/faults.hpp"
#include "kernel/thread/make_thread.hpp"

namespace sluice::plugin {

class ProgramThreads {
  public:
    void before_init() noexcept { before_init_ = all_but_ours(); }
    void after_init() noexcept { of_mpi_ = all_but_ours() - before_init_; }

    /// Asks the kernel, which takes a microsecond. True where it does not tell. A thread that an MPI makes later counts
    /// as the program's.
    bool are_several() const noexcept {
        std::uint64_t const all = kernel::count_threads();
        return all == 0 || all - kernel::threads_of_sluice() - of_mpi_ > 1;
    }

  private:
    static std::uint64_t all_but_ours() noexcept { return kernel::count_threads() - kernel::threads_of_sluice(); }

    std::uint64_t before_init_ = 1;
    std::uint64_t of_mpi_ = 0;
};

}  // namespace sluice::plugin
