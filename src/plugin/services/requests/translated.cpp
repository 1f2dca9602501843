// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/requests/translated.hpp"

#include "plugin/binding/plugin.hpp"
#include "plugin/services/job.hpp"

namespace sluice::plugin {

bool owns_some(Job const* job) noexcept {
    return job != nullptr && !job->owned.empty();
}

namespace {

/// The handler may throw.
int no_memory() {
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}

}  // namespace

Owners owners_now(bool nested) noexcept {
    return {g_plugin.job->owned, nested, {MPI_Test, MPI_Request_free}, no_memory};
}

void leave_owned_to_mpi(Job& job) {
    job.owned.leave_freed_to_mpi({MPI_Test, MPI_Request_free});
}

}  // namespace sluice::plugin
