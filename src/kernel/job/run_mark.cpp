// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/job/run_mark.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <sstream>

#include "kernel/job/job_name.hpp"
#include "kernel/launcher.hpp"
#include "kernel/process_stat.hpp"

namespace sluice::kernel {

namespace {

// No launcher of this kind, and one that cannot be found: it may be any.
constexpr char k_none[] = "-";
constexpr char k_unknown[] = "?";

/// One word for each kind of launcher, because a rank that starts another job leaves its own variables to it.
std::array<std::string, 3> launchers() {
    std::array<std::string, 3> names{k_none, k_none, k_none};
    if (char const* const space = variable("PMIX_NAMESPACE")) names[0] = "pmix." + hashed_name(space);
    if (variable("PMI_RANK") != nullptr) {
        pid_t const hydra = launcher_of_node();
        names[1] = hydra != 0 ? process_name(hydra) : k_unknown;
    }
    if (char const* const step = variable("SLURM_STEP_ID"))
        names[2] =
            hashed_name(std::string(variable("SLURM_JOB_ID") != nullptr ? variable("SLURM_JOB_ID") : "") + "." + step);
    return names;
}

}  // namespace

std::string run_mark() {
    std::string mark = process_name(getpid());
    for (std::string const& name : launchers())
        mark += " " + name;
    return mark;
}

bool is_run_itself() noexcept {
    char const* const mark = variable(k_run_variable);
    int pid = 0;
    unsigned long long started = 0;
    if (mark == nullptr || std::sscanf(mark, "%d.%llu", &pid, &started) != 2 || pid != getpid()) return false;
    auto const stat = own_process_stat();
    return stat && stat->started == started;
}

bool is_of_other_job() {
    char const* const mark = variable(k_run_variable);
    if (mark == nullptr) return false;
    std::istringstream words(mark);
    std::string theirs;
    words >> theirs;  // the process
    for (std::string const& mine : launchers())
        if (words >> theirs && mine != theirs && mine != k_unknown && theirs != k_unknown) return true;
    return false;
}

}  // namespace sluice::kernel
