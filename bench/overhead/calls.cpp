// SPDX-License-Identifier: BSD-3-Clause
#include "overhead/calls.hpp"

#include "support/libmpi.hpp"

namespace sluice::bench {

char const* Calls::name_of(std::size_t which) {
    static constexpr std::array<char const*, k_names> names{"MPI_Send",    "MPI_Recv",      "MPI_Isend",  "MPI_Irecv",
                                                            "MPI_Waitall", "MPI_Allreduce", "MPI_Barrier"};
    return names.at(which);
}

Calls Calls::of_the_program() {
    Calls calls;
    calls.send_ = &MPI_Send;
    calls.recv_ = &MPI_Recv;
    calls.isend_ = &MPI_Isend;
    calls.irecv_ = &MPI_Irecv;
    calls.waitall_ = &MPI_Waitall;
    calls.allreduce_ = &MPI_Allreduce;
    calls.barrier_ = &MPI_Barrier;
    return calls;
}

Calls Calls::straight() {
    Calls calls;
    find_in_libmpi(calls.send_, "PMPI_Send");
    find_in_libmpi(calls.recv_, "PMPI_Recv");
    find_in_libmpi(calls.isend_, "PMPI_Isend");
    find_in_libmpi(calls.irecv_, "PMPI_Irecv");
    find_in_libmpi(calls.waitall_, "PMPI_Waitall");
    find_in_libmpi(calls.allreduce_, "PMPI_Allreduce");
    find_in_libmpi(calls.barrier_, "PMPI_Barrier");
    return calls;
}

}  // namespace sluice::bench
