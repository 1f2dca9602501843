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
bool mpi_is_finalized() {
    int finalized = 0;
    return MPI_Finalized(&finalized) == MPI_SUCCESS && finalized != 0;
}
}  // namespace

Communicator::~Communicator() {
    if (comm_ != MPI_COMM_NULL && !mpi_is_finalized()) MPI_Comm_free(&comm_);
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
    if (win_ != MPI_WIN_NULL && !mpi_is_finalized()) MPI_Win_free(&win_);
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
