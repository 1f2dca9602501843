// SPDX-License-Identifier: BSD-3-Clause
// What the library says on standard error: told WAY FILE. Two lines are due: of MADRE on rank 0, and on each rank
// of a Context that outlives MPI_Finalize. The ways:
//     open      standard error stays as it is
//     quiet     the same, and the Context has the setting `quiet`
//     data      after MPI_Init standard error is closed, and a data file of each rank, FILE.RANK, gets its number
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>

#include "madre.h"
#include "sluice/context.hpp"

int main(int argc, char** argv) {
    if (argc != 3) return 3;
    std::string_view const way = argv[1];
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (way == "data") {
        close(STDERR_FILENO);
        std::string const name = std::string(argv[2]) + "." + std::to_string(rank);
        int const data = open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (data != STDERR_FILENO || write(data, "data\n", 5) != 5) return 4;
    }
    sluice::Settings settings = sluice::Settings::from_environment();
    if (way == "quiet") settings.quiet = sluice::Switch::on;
    std::string strategy = "token";
    MADRE_Object const wrong = MADRE_create(nullptr, strategy.data(), -1, 1, MPI_BYTE, MPI_COMM_WORLD);
    if (wrong != MADRE_OBJECT_NULL) return 5;
    auto context = std::make_unique<sluice::Context>(MPI_COMM_WORLD, settings);
    MPI_Finalize();
    context.reset();
}
