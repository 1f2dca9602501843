// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/job/job_name.hpp"

#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdio>
#include <functional>

#include "kernel/files/read_text.hpp"
#include "kernel/launcher.hpp"
#include "kernel/process_stat.hpp"

namespace sluice::kernel {

namespace {

pid_t parent_of(pid_t pid) {
    auto const stat = process_stat(pid);
    return stat ? static_cast<pid_t>(stat->parent) : 0;
}

std::string command_of(pid_t pid) {
    std::array<char, 64> room;
    return std::string(read_text("/proc/" + std::to_string(pid) + "/comm", room));
}

std::string clean(std::string name) {
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '.';
    return name;
}

}  // namespace

std::string process_name(pid_t pid) {
    auto const stat = process_stat(pid);
    return std::to_string(pid) + "." + std::to_string(stat ? stat->started : 0);
}

pid_t launcher_of_node() {
    for (pid_t pid = getppid(); pid > 1; pid = parent_of(pid))
        if (command_of(pid).starts_with("hydra_")) return pid;
    return 0;
}

std::string hashed_name(std::string const& text) {
    char number[16];
    std::snprintf(number, sizeof number, "%08x", static_cast<unsigned>(std::hash<std::string>()(text)));
    return number;
}

std::string job_name() {
    // Some launchers put the host's name into it.
    if (char const* const pmix = variable("PMIX_NAMESPACE")) return "pmix." + hashed_name(pmix);
    // MPI_Init of a program without a launcher is a job of its own.
    if (variable("PMI_RANK") == nullptr) return clean(process_name(getpid()));
    // Before Slurm's names: one script of Slurm may start many jobs by MPICH's launcher.
    if (pid_t const launcher = launcher_of_node(); launcher != 0) return clean(process_name(launcher));
    if (char const* const slurm = variable("SLURM_JOB_ID"))
        return clean(std::string(slurm) + "." +
                     (variable("SLURM_STEP_ID") != nullptr ? variable("SLURM_STEP_ID") : "0"));
    return clean(process_name(getppid()));
}

}  // namespace sluice::kernel
