// SPDX-License-Identifier: BSD-3-Clause
// Findings on each MPI: its library next to this command, its launcher, its properties on one rank.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/doctor/finding.hpp"
#include "cli/support/installation.hpp"
#include "cli/support/launch.hpp"
#include "cli/support/local_ranks.hpp"

namespace sluice::cli {

namespace {

constexpr int k_limit_seconds = 60;

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

/// Returns the answer of the probe; null if there is no probe or it fails.
nlohmann::json asked(MpiBuild const& build, std::string& why) {
    auto const program = program_for(build.name, "sluice-probe-mpi");
    if (!program) {
        why = "sluice-probe-mpi is not next to this command";
        return nullptr;
    }
    std::vector<std::string> command = local_launcher(build.name, 1);
    command.push_back(program->string());
    nlohmann::json said;
    Ended const ended = launch(command, local_environment(), k_limit_seconds, [&](std::string const& line) {
        nlohmann::json row = nlohmann::json::parse(line, nullptr, false);
        if (row.is_object() && row.contains("provided")) said = row;
    });
    if (ended.code == 0 && !said.is_null()) return said;
    why = ended.silent ? fmt::format("one rank printed nothing for {} seconds", k_limit_seconds)
                       : fmt::format("one rank ended with code {}: {}", ended.code,
                                     ended.complaints.substr(0, ended.complaints.find('\n')));
    return nullptr;
}

Findings check_running(MpiBuild const& build) {
    std::string why;
    nlohmann::json const said = asked(build, why);
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
