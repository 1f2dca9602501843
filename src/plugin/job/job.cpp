// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/job.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>

#include "record/record_file.hpp"

namespace sluice::plugin {

namespace {

char const* variable(char const* name) {
    char const* const value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

/// Start time and number of a process: together unlike those of any other since the machine started.
std::string process_name(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(stat, line);
    // Fields count from behind the name, which may hold anything; the start time is the 20th of them.
    std::size_t at = line.rfind(')');
    for (int field = 0; field < 20 && at != std::string::npos; ++field)
        at = line.find(' ', at + 1);
    std::string const start = at == std::string::npos ? "0" : line.substr(at + 1, line.find(' ', at + 1) - at - 1);
    return std::to_string(pid) + "." + start;
}

pid_t parent_of(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(stat, line);
    std::size_t const at = line.rfind(')');
    return at == std::string::npos ? 0 : static_cast<pid_t>(std::atoi(line.c_str() + at + 4));
}

std::string command_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
    std::string name;
    std::getline(file, name);
    return name;
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
    if (char const* const pmix = variable("PMIX_NAMESPACE")) return "pmix." + hashed(pmix);
    // MPI_Init of a program without a launcher is a job of its own.
    if (variable("PMI_RANK") == nullptr) return clean(process_name(getpid()));
    // Before Slurm's names: one script of Slurm may start many jobs by MPICH's launcher.
    if (pid_t const launcher = launcher_of_node(); launcher != 0) return clean(process_name(launcher));
    if (char const* const slurm = variable("SLURM_JOB_ID"))
        return clean(std::string(slurm) + "." +
                     (variable("SLURM_STEP_ID") != nullptr ? variable("SLURM_STEP_ID") : "0"));
    return clean(process_name(getppid()));
}

std::string record_path(std::string const& folder, std::string& why) {
    std::string where = folder;
    if (where.empty()) {
        std::string const mine = record::folder_of_jobs();
        struct stat status {};
        // Somebody else's folder of that name could be a trap.
        bool const ours = make_folder(mine, 0700) && stat(mine.c_str(), &status) == 0 && status.st_uid == getuid();
        where = mine + "/" + job_name();
        if (!ours) why = mine + ": cannot be made, or belongs to somebody else";
    }
    if (why.empty() && !make_folder(where, 0777)) why = where + ": " + std::strerror(errno);
    return why.empty() ? where + "/node-" + job_name() + "-" + node_number() + ".sluice" : std::string();
}

}  // namespace sluice::plugin
