// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include "collectives/inplace_alltoall.hpp"

namespace sluice::collectives {

bool worth_serving_alltoall(std::uint64_t bytes_per_pair, int size) noexcept {
#if defined(MPICH_VERSION)
    // MPICH 4.0.2's own call gives wrong data for structs of about 30 KiB or more for each pair
    // (tests/plugin/equality/inplace_truth.c).
    constexpr std::uint64_t k_from = 16384;
#else
    constexpr std::uint64_t k_from = 65536;
#endif
    return size > 1 && bytes_per_pair >= k_from;
}

}  // namespace sluice::collectives
