// SPDX-License-Identifier: BSD-3-Clause
#include "support/program.hpp"

#include <mpi.h>

#include <cstdio>
#include <exception>

namespace sluice::bench {

int run_program(int argc, char** argv, command_line::CommandLine& line, std::function<void()> const& run) {
    if (auto const code = line.parse_main(argc, argv)) return *code;
    MPI_Init(&argc, &argv);
    int code = 0;
    try {
        run();
    } catch (std::exception const& error) {
        std::fprintf(stderr, "%s: %s\n", line.name().c_str(), error.what());
        code = 1;
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    MPI_Finalize();
    return code;
}

}  // namespace sluice::bench
