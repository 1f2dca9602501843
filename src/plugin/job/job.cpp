// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/job.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "kernel/kept_file.hpp"
#include "kernel/launcher.hpp"
#include "kernel/process_stat.hpp"
#include "record/record_file.hpp"

namespace sluice::plugin {

namespace {

/// Start time and number of a process: together unlike those of any other since the machine started.
std::string process_name(pid_t pid) {
    auto const stat = kernel::process_stat(pid);
    return std::to_string(pid) + "." + std::to_string(stat ? stat->started : 0);
}

pid_t parent_of(pid_t pid) {
    auto const stat = kernel::process_stat(pid);
    return stat ? static_cast<pid_t>(stat->parent) : 0;
}

std::string command_of(pid_t pid) {
    std::array<char, 64> room;
    return std::string(kernel::KeptFile("/proc/" + std::to_string(pid) + "/comm").read(room));
}

/// The process of MPICH's launcher that started the ranks of this node; a shell may stand between.
pid_t launcher_of_node() {
    for (pid_t pid = getppid(); pid > 1; pid = parent_of(pid))
        if (command_of(pid).starts_with("hydra_")) return pid;
    return 0;
}

std::string clean(std::string name) {
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '.';
    return name;
}

/// A number, from which the text cannot be read.
std::string hashed(std::string const& text) {
    char number[16];
    std::snprintf(number, sizeof number, "%08x", static_cast<unsigned>(std::hash<std::string>()(text)));
    return number;
}

std::string node_number() {
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    return hashed(name);
}

bool make_folder(std::string const& path, mode_t mode) {
    struct stat status {};
    if (mkdir(path.c_str(), mode) == 0) return true;
    return errno == EEXIST && stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

std::string job_name() {
    // Some launchers put the host's name into it.
    if (char const* const pmix = kernel::variable("PMIX_NAMESPACE")) return "pmix." + hashed(pmix);
    // MPI_Init of a program without a launcher is a job of its own.
    if (kernel::variable("PMI_RANK") == nullptr) return clean(process_name(getpid()));
    // Before Slurm's names: one script of Slurm may start many jobs by MPICH's launcher.
    if (pid_t const launcher = launcher_of_node(); launcher != 0) return clean(process_name(launcher));
    if (char const* const slurm = kernel::variable("SLURM_JOB_ID"))
        return clean(std::string(slurm) + "." +
                     (kernel::variable("SLURM_STEP_ID") != nullptr ? kernel::variable("SLURM_STEP_ID") : "0"));
    return clean(process_name(getppid()));
}

std::string record_path(std::string const& folder, std::string& why) {
    std::string where = folder;
    if (where.empty()) {
        std::string const mine = record::folder_of_jobs();
        struct stat status {};
        // Another user's folder of that name could be a trap.
        bool const ours = make_folder(mine, 0700) && stat(mine.c_str(), &status) == 0 && status.st_uid == getuid();
        where = mine + "/" + job_name();
        if (!ours) why = mine + ": cannot be made, or belongs to another user";
    }
    if (why.empty() && !make_folder(where, 0777)) why = where + ": " + std::strerror(errno);
    return why.empty() ? where + "/node-" + job_name() + "-" + node_number() + ".sluice" : std::string();
}

}  // namespace sluice::plugin
