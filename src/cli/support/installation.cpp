// SPDX-License-Identifier: BSD-3-Clause
#include "cli/support/installation.hpp"

#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace sluice::cli {

namespace fs = std::filesystem;

namespace {

fs::path own_folder() {
    return fs::canonical("/proc/self/exe").parent_path();
}

bool is_program(fs::path const& path) {
    std::error_code unseen;  // so that a folder in PATH that this user may not enter throws nothing
    return fs::is_regular_file(path, unseen) && access(path.c_str(), X_OK) == 0;
}

std::optional<fs::path> first_program(std::vector<fs::path> const& candidates) {
    for (fs::path const& candidate : candidates)
        if (is_program(candidate)) return candidate.lexically_normal();
    return std::nullopt;
}

/// Returns the folders that may have a folder <mpi> for the build of each MPI: build/ for the command build/bin/sluice,
/// and the folder above it for a command that was left in its own build folder.
std::vector<fs::path> build_roots() {
    return {own_folder() / "..", own_folder() / "../.."};
}

/// The folder of the simulator's build is named after the bed, not after the compiler.
std::string folder_of(std::string const& mpi) {
    return mpi == "simgrid" ? "simulated" : mpi;
}

/// `builds`: the folders of builds that may have made it.
fs::path find_library(std::string const& file, std::vector<std::string> const& builds) {
    std::vector<fs::path> folders{own_folder() / "../lib", own_folder() / "../lib64"};
    for (fs::path const& root : build_roots())
        for (std::string const& build : builds)
            folders.push_back(root / build / "lib");
    for (char const* multiarch : {SLUICE_LIBDIR})
        folders.push_back(own_folder() / ".." / multiarch);
    for (fs::path const& folder : folders)
        if (std::error_code unseen; fs::exists(folder / file, unseen)) return (folder / file).lexically_normal();
    return {};
}

/// `kind`: "libsluice-" or "libsluice-preload-".
fs::path library_of_mpi(std::string const& kind, std::string const& mpi) {
    return find_library(kind + mpi + ".so", {folder_of(mpi)});
}

}  // namespace

std::optional<fs::path> in_path(std::string const& name) {
    char const* const path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (is_program(fs::path(folder) / name)) return fs::path(folder) / name;
    return std::nullopt;
}

std::vector<MpiBuild> mpi_builds() {
    std::vector<MpiBuild> builds;
    for (std::string const name : {"openmpi", "mpich", "mpi", "simgrid"}) {
        MpiBuild build{name, library_of_mpi("libsluice-", name), library_of_mpi("libsluice-preload-", name), {}};
        std::vector<std::string> launchers{"mpiexec." + name, "mpiexec"};
        if (name == "simgrid") launchers = {"smpirun"};
        if (name == "mpi") launchers = {"mpiexec"};
        for (std::string const& launcher : launchers)
            if (auto const found = in_path(launcher); found && build.launcher.empty()) build.launcher = *found;
        builds.push_back(build);
    }
    return builds;
}

fs::path pages_library() {
    return find_library("libsluice-pages.so", {"command"});
}

std::optional<fs::path> program_for(std::string const& mpi, std::string const& name) {
    std::vector<fs::path> candidates{own_folder() / "../libexec/sluice" / mpi / name};
    for (fs::path const& root : build_roots())
        candidates.push_back(root / folder_of(mpi) / "bin" / name);
    return first_program(candidates);
}

std::optional<fs::path> report_template() {
    fs::path const page = (own_folder() / "../share/sluice/report.html").lexically_normal();
    if (fs::is_regular_file(page)) return page;
    return std::nullopt;
}

std::optional<fs::path> bed_script(std::string const& name) {
    return first_program({own_folder() / "../libexec/sluice/beds" / name, own_folder() / "../../bench/beds" / name,
                          own_folder() / "../../../bench/beds" / name});
}

std::optional<fs::path> bench_script(std::string const& name) {
    return first_program({own_folder() / "../libexec/sluice" / name, own_folder() / "../../bench" / name,
                          own_folder() / "../../../bench" / name});
}

}  // namespace sluice::cli
