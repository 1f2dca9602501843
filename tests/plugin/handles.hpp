// SPDX-License-Identifier: BSD-3-Clause
/// Handles of requests for tests without MPI.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <mutex>
#include <vector>

namespace sluice::plugin::tests {

/// A handle that the fake MPI does not know unless it made it. Open MPI's handles are addresses, MPICH's numbers.
inline MPI_Request handle_number(std::uintptr_t number) {
    return (MPI_Request)(number * 64);
}

/// Handles as a real MPI gives them: one that a completing call has given back is at once another thread's.
class Handles {
  public:
    MPI_Request take() {
        std::lock_guard const lock(changing_);
        if (free_.empty()) return handle_number(++made_);
        MPI_Request const last = free_.back();
        free_.pop_back();
        return last;
    }
    void give_back(MPI_Request handle) {
        std::lock_guard const lock(changing_);
        free_.push_back(handle);
    }

  private:
    std::mutex changing_;
    std::vector<MPI_Request> free_;
    std::uintptr_t made_ = 0;
};

}  // namespace sluice::plugin::tests
