// SPDX-License-Identifier: BSD-3-Clause
#include "methods/method.hpp"

namespace sluice::bench {

std::string refuses_nothing(Workload const&) {
    return {};
}

std::vector<MethodEntry> const& methods() {
    static std::vector<MethodEntry> const entries {
        {"token", Kind::ours, refuses_nothing, make_sluice},
            {"alltoallv_warm", Kind::theirs, refuses_nothing, make_alltoallv_warm},
            {"alltoallv_lean", Kind::theirs, refuses_nothing, make_alltoallv_lean},
            {"alltoallv_cold", Kind::theirs, refuses_nothing, make_alltoallv_cold},
            {"copy_limit", Kind::bound, refuses_nothing, make_copy_limit},
#if defined(SLUICE_BENCH_ZOLTAN)
            {"zoltan_migrate", Kind::theirs, refuses_nothing, make_zoltan},
#endif
#if defined(SLUICE_BENCH_PETSC)
            {"petsc_sf", Kind::theirs, petsc_refuses, make_petsc},
#endif
#if defined(SLUICE_BENCH_P4EST)
            {"p4est_transfer", Kind::theirs, p4est_refuses, make_p4est},
#endif
            {"alltoallv", Kind::ours, refuses_nothing, make_sluice}, {"auto", Kind::ours, refuses_nothing, make_sluice},
            {"cyclic", Kind::ours, refuses_nothing, make_sluice}, {"parking", Kind::ours, refuses_nothing, make_sluice},
    };
    return entries;
}

}  // namespace sluice::bench
