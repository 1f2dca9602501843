// SPDX-License-Identifier: BSD-3-Clause
#include "support/program.hpp"

#include <mpi.h>

#include <cstdio>
#include <exception>

namespace sluice::bench {

int run_program(int argc, char** argv, CLI::App& app, std::string const& name, std::function<void()> const& run) {
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    MPI_Init(&argc, &argv);
    int code = 0;
    try {
        run();
    } catch (std::exception const& error) {
        std::fprintf(stderr, "bench %s: %s\n", name.c_str(), error.what());
        code = 1;
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    MPI_Finalize();
    return code;
}

}  // namespace sluice::bench
