// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/requests/ticket.hpp"

#include "mpi/mpi.hpp"

namespace sluice::plugin {

namespace {

int tell_empty_status(void*, MPI_Status* status) {
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int free_nothing(void*) {
    return MPI_SUCCESS;
}

int cancel_nothing(void*, int) {
    return MPI_SUCCESS;
}

}  // namespace

int start_ticket(MPI_Request& ticket) noexcept {
    return MPI_Grequest_start(tell_empty_status, free_nothing, cancel_nothing, nullptr, &ticket);
}

Ticket::Ticket() {
    mpi::check(start_ticket(handle_), "MPI_Grequest_start");
}

Ticket::~Ticket() {
    MPI_Grequest_complete(handle_);
    MPI_Request_free(&handle_);
}

}  // namespace sluice::plugin
