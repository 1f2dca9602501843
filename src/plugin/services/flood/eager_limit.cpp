// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/flood/eager_limit.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace sluice::plugin {

namespace {

#ifdef OPEN_MPI
// The vader component's limit. Which component is used, and its limit, are told by variables of the environment: mpirun
// passes its options on by them.
constexpr std::uint64_t k_default = 4096;
constexpr std::array k_changed_by{"OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_btl_vader_eager_limit",
                                  "OMPI_MCA_btl_sm_eager_limit"};
#else
// UCX 1.13 over shared memory: 7776 bytes do not wait for their receive, 11664 bytes do.
constexpr std::uint64_t k_default = 11 << 10;
constexpr std::array k_changed_by{"UCX_TLS", "UCX_RNDV_THRESH", "MPIR_CVAR_NOLOCAL", "MPICH_NO_LOCAL"};
#endif

}  // namespace

std::uint64_t eager_limit_within_a_node() noexcept {
    bool const changed = std::any_of(k_changed_by.begin(), k_changed_by.end(),
                                     [](char const* name) { return std::getenv(name) != nullptr; });
    return changed ? k_eager_limit : k_default;
}

}  // namespace sluice::plugin
