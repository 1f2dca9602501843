// SPDX-License-Identifier: BSD-3-Clause
#include "methods/method.hpp"

namespace sluice::bench {

std::string refuses_nothing(Workload const&) {
    return {};
}

namespace {

std::string refuses_private(Workload const& workload) {
    return workload.shared.data != nullptr || workload.shared.count == 0 ? "" : "the node shares no arrays";
}

}  // namespace

std::vector<MethodEntry> const& methods() {
    static std::vector<MethodEntry> const entries = [] {
        std::vector<MethodEntry> all{
            {"token", Kind::ours, refuses_nothing, make_sluice},
            {"token_shared", Kind::ours, refuses_private, make_sluice_shared, true},
            {"alltoallv_warm", Kind::theirs, refuses_nothing, make_alltoallv_warm},
            {"alltoallv_lean", Kind::theirs, refuses_nothing, make_alltoallv_lean},
            {"alltoallv_cold", Kind::theirs, refuses_nothing, make_alltoallv_cold},
            {"copy_limit", Kind::bound, refuses_nothing, make_copy_limit},
            {"alltoallv", Kind::ours, refuses_nothing, make_sluice},
            {"auto", Kind::ours, refuses_nothing, make_sluice},
            {"cyclic", Kind::ours, refuses_nothing, make_sluice},
            {"parking", Kind::ours, refuses_nothing, make_sluice},
        };
        if (auto const peer = peer_method()) all.push_back(*peer);
        return all;
    }();
    return entries;
}

}  // namespace sluice::bench
