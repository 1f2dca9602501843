// SPDX-License-Identifier: BSD-3-Clause
/// The places of the command's files, relative to the command itself, so that the tree may be moved.
///
///     in a build      build/bin/sluice    build/<mpi>/bin/bench-*              bench/beds/*
///     installed       bin/sluice          libexec/sluice/<mpi>/bench-*         libexec/sluice/beds/*
///
/// The template of the report's page is ../share/sluice/report.html from the command in both.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sluice::cli {

/// One MPI that the library can be built for.
struct MpiBuild {
    std::string name;                ///< "openmpi"
    std::filesystem::path library;   ///< empty if there is none next to the command
    std::filesystem::path plugin;    ///< preloaded by `sluice run`; empty if there is none next to the command
    std::filesystem::path launcher;  ///< empty if there is none in PATH
};

/// Open MPI, MPICH, another MPI and the simulator; in this order.
std::vector<MpiBuild> mpi_builds();

/// Returns the library that gives large allocations whole pages (src/pages); empty if there is none next to the
/// command.
std::filesystem::path pages_library();

/// Returns a benchmark program of the build for `mpi`, if it exists.
std::optional<std::filesystem::path> program_for(std::string const& mpi, std::string const& name);

/// Returns a script that sets up a test bed or runs a whole benchmark, if it exists.
std::optional<std::filesystem::path> bed_script(std::string const& name);
std::optional<std::filesystem::path> bench_script(std::string const& name);

/// Returns the template of the report's page, if it was built.
std::optional<std::filesystem::path> report_template();

/// Returns the executable of that name in PATH, if there is one.
std::optional<std::filesystem::path> in_path(std::string const& name);

}  // namespace sluice::cli
