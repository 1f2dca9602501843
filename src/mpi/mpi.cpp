// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/mpi.hpp"

#include <string>

#include "sluice/error.hpp"

namespace sluice::mpi {

void check(int code, char const* call) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
    throw Error(ErrorCode::mpi, std::string(call) + " failed with code " + std::to_string(code) + ": " +
                                    std::string(text, static_cast<std::size_t>(length)));
}

namespace {

bool is_initialized() {
    int initialized = 0;
    return MPI_Initialized(&initialized) == MPI_SUCCESS && initialized != 0;
}

bool is_finalized() {
    int finalized = 0;
    return MPI_Finalized(&finalized) == MPI_SUCCESS && finalized != 0;
}

}  // namespace

bool is_running() {
    return is_initialized() && !is_finalized();
}

MPI_Comm usable(MPI_Comm comm, char const* object) {
    auto const refuse = [object](char const* why) {
        throw Error(ErrorCode::invalid_argument, std::string(object) + " is made " + why);
    };
    if (is_finalized()) refuse("after MPI_Finalize: call MPI_Finalize after the last use of Sluice");
    if (!is_initialized()) refuse("before MPI_Init: call MPI_Init or MPI_Init_thread first");
    if (comm == MPI_COMM_NULL)
        refuse("on MPI_COMM_NULL: this process is not in that communicator, so leave out the call here");
#ifndef SLUICE_SIMULATED  // SMPI has no inter-communicators
    int inter = 0;
    check(MPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
    if (inter != 0) refuse("on an inter-communicator: merge its groups by MPI_Intercomm_merge first");
#endif
    return comm;
}

Communicator::~Communicator() {
    if (comm_ != MPI_COMM_NULL && is_running()) MPI_Comm_free(&comm_);
}

Communicator Communicator::twin_of(MPI_Comm comm) {
    MPI_Group group = MPI_GROUP_NULL;
    check(MPI_Comm_group(comm, &group), "MPI_Comm_group");
    MPI_Comm twin = MPI_COMM_NULL;
    int const code = MPI_Comm_create_group(comm, group, 0, &twin);
    MPI_Group_free(&group);
    check(code, "MPI_Comm_create_group");
    Communicator owned(twin);
    check(MPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return owned;
}

Communicator Communicator::of_node(MPI_Comm comm) {
    MPI_Comm node = MPI_COMM_NULL;
    check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank_in(comm), MPI_INFO_NULL, &node), "MPI_Comm_split_type");
    Communicator owned(node);
    check(MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return owned;
}

SharedWindow::~SharedWindow() {
    if (win_ != MPI_WIN_NULL && is_running()) MPI_Win_free(&win_);
}

bool is_complete(MPI_Request& request) {
    if (request == MPI_REQUEST_NULL) return true;
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
}

int rank_in(MPI_Comm comm) {
    int rank = 0;
    check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    return rank;
}

int size_of(MPI_Comm comm) {
    int size = 0;
    check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
    return size;
}

}  // namespace sluice::mpi
