// SPDX-License-Identifier: BSD-3-Clause
// Two ranks send each other one message from a function with debug information: names MODE. It prints the lines of
// its calls as "RECEIVES 17". Mode "killed": rank 1 ends itself by SIGKILL when rank 0 waits for it.
#include <mpi.h>
#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

namespace {

template <class T, int Depth>
struct Field {
    T value{};
    [[gnu::noinline]] void send(int to) {
        std::printf("SENDS %d\n", __LINE__ + 1);
        MPI_Send(&value, sizeof value, MPI_BYTE, to, Depth, MPI_COMM_WORLD);
        value = T{1};  // the call is not the last, so it returns here
    }
    [[gnu::noinline]] void receive(int from) {
        std::printf("RECEIVES %d\n", __LINE__ + 1);
        MPI_Recv(&value, sizeof value, MPI_BYTE, from, Depth, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Field<double, 3> field;
    bool const is_killed = std::strcmp(argv[1], "killed") == 0;
    if (rank == 0) {
        field.receive(1);
        if (is_killed) field.receive(1);
    } else {
        field.send(0);
        std::fflush(stdout);
        if (is_killed) {
            usleep(300'000);  // for samples of this state
            kill(getpid(), SIGKILL);
        }
    }
    MPI_Finalize();
    return 0;
}
