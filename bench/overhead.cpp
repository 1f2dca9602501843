// What watching costs: the same program is launched with and without `sluice run`, in turns. Links nothing of ours.
// Prints for each case one line: name, bytes of a message, seconds of a round (one way of a ping-pong, one step of a
// halo exchange).
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int k_batches = 9;

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Ranks 0 and 1; the others wait in the barrier.
void ping_pong(int rank, int bytes, int rounds) {
    std::vector<char> buffer(static_cast<std::size_t>(bytes), 'x');
    std::vector<double> seconds;
    for (int batch = -1; batch < k_batches; ++batch) {
        MPI_Barrier(MPI_COMM_WORLD);
        double const begin = MPI_Wtime();
        for (int i = 0; rank < 2 && i < rounds; ++i) {
            if (rank == 0) MPI_Send(buffer.data(), bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(buffer.data(), bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 1) MPI_Send(buffer.data(), bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
        if (batch >= 0) seconds.push_back((MPI_Wtime() - begin) / rounds / 2);
    }
    if (rank == 0) std::printf("pingpong %d %.9f\n", bytes, median(seconds));
}

/// A strip of a plane with a halo of one row on each side, of `bytes`, and a sweep over it between two exchanges.
void halo(int rank, int size, int bytes, int steps) {
    std::size_t const width = static_cast<std::size_t>(bytes) / sizeof(double);
    constexpr std::size_t k_rows = 64;
    std::vector<double> now((k_rows + 2) * width, 1.0);
    std::vector<double> next(now);
    int const up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    int const down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int const count = static_cast<int>(width);
    std::vector<double> seconds;
    for (int batch = -1; batch < k_batches; ++batch) {
        MPI_Barrier(MPI_COMM_WORLD);
        double const begin = MPI_Wtime();
        for (int step = 0; step < steps; ++step) {
            MPI_Request open[4];
            MPI_Irecv(&now[0], count, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &open[0]);
            MPI_Irecv(&now[(k_rows + 1) * width], count, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, &open[1]);
            MPI_Isend(&now[width], count, MPI_DOUBLE, down, 2, MPI_COMM_WORLD, &open[2]);
            MPI_Isend(&now[k_rows * width], count, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &open[3]);
            MPI_Waitall(4, open, MPI_STATUSES_IGNORE);
            for (std::size_t row = 1; row <= k_rows; ++row)
                for (std::size_t i = 1; i + 1 < width; ++i) {
                    std::size_t const at = row * width + i;
                    next[at] = 0.2 * (now[at] + now[at - 1] + now[at + 1] + now[at - width] + now[at + width]);
                }
            std::swap(now, next);
        }
        if (batch >= 0) seconds.push_back((MPI_Wtime() - begin) / steps);
    }
    double checksum = 0;
    for (double const value : now)
        checksum += value;
    if (rank == 0 && checksum >= 0) std::printf("halo %d %.9f\n", bytes, median(seconds));
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const rounds = argc > 1 ? std::atoi(argv[1]) : 2000;
    if (size < 2) {
        std::fprintf(stderr, "overhead: needs 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    ping_pong(rank, 8, 10 * rounds);
    ping_pong(rank, 16384, rounds);
    ping_pong(rank, 1048576, std::max(rounds / 40, 1));
    halo(rank, size, 16384, std::max(rounds / 10, 1));
    halo(rank, size, 65536, std::max(rounds / 40, 1));
    MPI_Finalize();
}
