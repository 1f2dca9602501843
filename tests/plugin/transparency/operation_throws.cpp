// SPDX-License-Identifier: BSD-3-Clause
// An operation of the program throws out of whatever call of MPI runs it: MPI runs those of nonblocking reductions
// while it does other things, also in calls of MPI that services make. Rank 0 catches it. Argument: what it does
// meanwhile.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

bool armed = true;
bool of_memory = true;

void throws(void*, void*, int*, MPI_Datatype*) {
    if (!armed) return;
    if (of_memory) throw std::bad_alloc();
    throw std::runtime_error("an operation");
}

constexpr int k_ints = 512;
constexpr int k_block = 1 << 16;

void sends(std::vector<int> const& data) {
    for (int i = 0; i < 200; ++i)
        MPI_Send(data.data(), k_ints, MPI_INT, 1, 1, MPI_COMM_WORLD);
}

void receives(std::vector<int>& data) {
    for (MPI_Status status{}; status.MPI_TAG != 2;)
        MPI_Recv(data.data(), k_ints, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
}

/// A collective call, which rank 0 leaves.
void together(std::string_view what, std::vector<int>& data) {
    MPI_Comm copy = MPI_COMM_NULL;
    if (what == "alltoall")
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data.data(), k_block, MPI_INT, MPI_COMM_WORLD);
    else if (what == "dup")
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    else
        MPI_Bcast(data.data(), k_ints, MPI_INT, 1, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
    std::string_view const what = argc > 1 ? argv[1] : "sends";
    of_memory = argc <= 2 || std::string_view(argv[2]) == "memory";
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::vector<int> data(static_cast<std::size_t>(ranks) * k_block);
    MPI_Op op;
    MPI_Op_create(&throws, 1, &op);
    int const mine = rank;
    int sum = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) {
        std::string caught = "nothing";
        try {
            MPI_Ireduce(&mine, &sum, 1, MPI_INT, op, 0, MPI_COMM_WORLD, &request);
            // Its own part comes no earlier than this.
            MPI_Send(data.data(), 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
            what == "sends" ? sends(data) : together(what, data);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } catch (std::exception const& error) {
            caught = error.what();
        }
        armed = false;
        std::printf("rank 0 caught %s\n", caught.c_str());
        std::fflush(stdout);
        if (what != "sends") MPI_Abort(MPI_COMM_WORLD, 3);
        MPI_Send(data.data(), k_ints, MPI_INT, 1, 2, MPI_COMM_WORLD);
    } else {
        if (rank == 1) MPI_Recv(data.data(), 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ireduce(&mine, &sum, 1, MPI_INT, op, 0, MPI_COMM_WORLD, &request);
        if (rank == 1 && what == "sends") receives(data);
        if (what != "sends") together(what, data);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
