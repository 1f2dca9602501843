// SPDX-License-Identifier: BSD-3-Clause
// Findings on each MPI: its library next to this command, its launcher, its properties on one rank.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/doctor/finding.hpp"
#include "cli/doctor/mpi_probe.hpp"
#include "cli/support/installation.hpp"

namespace sluice::cli {

namespace {

Finding check_build(MpiBuild const& build) {
    bool const ok = !build.library.empty() && !build.launcher.empty();
    std::string found = build.library.empty() ? "no library of Sluice" : build.library.filename().string();
    found += build.launcher.empty() ? ", no launcher" : ", launched by " + build.launcher.string();
    return {ok ? Health::ok : Health::missing, "build for " + build.name, found,
            ok ? "its programs can be run and served" : "its programs cannot be served from here",
            build.library.empty()    ? "make build with this MPI installed"
            : build.launcher.empty() ? "put its mpiexec into PATH"
                                     : ""};
}

Findings check_running(MpiBuild const& build) {
    std::string why;
    nlohmann::json const said = ask_mpi(build, why);
    if (said.is_null())
        return {{Health::missing, build.name + " on one rank", why, "it does not run here as it should",
                 "run its mpiexec -n 1 by hand and read its output"}};
    auto const provided = said.at("provided").get<std::string>();
    bool const all = provided == "MULTIPLE";
    return {{Health::ok, build.name + " on one rank",
             fmt::format("{}, MPI {}", said.at("library").get<std::string>(), said.at("standard").get<std::string>()),
             "it runs", ""},
            {all ? Health::ok : Health::limited, build.name + " thread level",
             fmt::format("requested MULTIPLE, got {}", provided),
             all ? "helper threads may call MPI if a capability needs it"
                 : "capabilities whose helper thread calls MPI stay off",
             all ? ""
                 : "a build of the MPI with thread support (--enable-mpi-thread-multiple, --enable-threads=multiple)"}};
}

bool has_file(std::filesystem::path const& folder, std::string_view ending) {
    std::error_code none;
    for (auto const& entry : std::filesystem::directory_iterator(folder, none))
        if (entry.path().filename().string().ends_with(ending)) return true;
    return false;
}

/// hwloc, which both MPIs use, looks for devices of OpenCL where it has a plugin for that; each driver that is
/// installed is loaded for it, and with most of them a compiler.
Finding opencl() {
    char const* const asked = std::getenv("HWLOC_COMPONENTS");
    bool const off = asked != nullptr && std::string_view(asked).find("-opencl") != std::string_view::npos;
    bool plugin = false;
    std::error_code none;
    for (char const* const lib : {"/usr/lib", "/usr/lib64"}) {
        plugin = plugin || has_file(std::filesystem::path(lib) / "hwloc", "hwloc_opencl.so");
        for (auto const& entry : std::filesystem::directory_iterator(lib, none))
            plugin = plugin || has_file(entry.path() / "hwloc", "hwloc_opencl.so");
    }
    bool const drivers = has_file("/etc/OpenCL/vendors", ".icd");
    if (!plugin || !drivers || off)
        return {Health::ok, "OpenCL in MPI_Init",
                off       ? "HWLOC_COMPONENTS leaves it out"
                : !plugin ? "hwloc has no plugin for it"
                          : "no driver is installed",
                "MPI_Init loads no compiler for devices", ""};
    return {Health::limited, "OpenCL in MPI_Init", "hwloc has a plugin for it, and a driver is installed",
            "MPI_Init may load libLLVM into each rank: about 60 MiB of its pages and 10 MiB of others",
            "HWLOC_COMPONENTS=-opencl in the environment of the ranks"};
}

}  // namespace

Findings look_at_mpis() {
    Findings findings{opencl()};
    for (MpiBuild const& build : mpi_builds()) {
        if (build.name == "mpi" && build.library.empty()) continue;
        findings.push_back(check_build(build));
        if (build.name == "simgrid" || build.launcher.empty()) continue;
        Findings const running = check_running(build);
        findings.insert(findings.end(), running.begin(), running.end());
    }
    return findings;
}

}  // namespace sluice::cli
