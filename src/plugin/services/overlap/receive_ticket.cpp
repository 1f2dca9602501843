// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/overlap/receive_ticket.hpp"

namespace sluice::plugin {

namespace {

int tell_status(void* receive, MPI_Status* status) {
    auto const& from = *static_cast<DeferredReceive const*>(receive);
    MPI_Count bytes = 0;
    int cancelled = 0;
    MPI_Get_elements_x(&from.status, MPI_BYTE, &bytes);
    MPI_Test_cancelled(&from.status, &cancelled);
    MPI_Status_set_elements_x(status, MPI_BYTE, bytes);
    MPI_Status_set_cancelled(status, cancelled);
    status->MPI_SOURCE = from.status.MPI_SOURCE;
    status->MPI_TAG = from.status.MPI_TAG;
    return from.code;
}

int forget(void* receive) {
    static_cast<DeferredReceive*>(receive)->ticket = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/// Before MPI_Cancel what was held was given to MPI. A message that was matched is received.
int cancel(void* receive, int complete) {
    auto& of = *static_cast<DeferredReceive*>(receive);
    return complete == 0 && of.is(DeferredReceive::Stage::in_place) ? MPI_Cancel(&of.request) : MPI_SUCCESS;
}

}  // namespace

int make_ticket(DeferredReceive& receive) noexcept {
    return MPI_Grequest_start(tell_status, forget, cancel, &receive, &receive.ticket);
}

void complete_ticket(DeferredReceive& receive) noexcept {
    MPI_Grequest_complete(receive.ticket);
}

}  // namespace sluice::plugin
