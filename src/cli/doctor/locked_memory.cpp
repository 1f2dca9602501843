// SPDX-License-Identifier: BSD-3-Clause
// How much memory may be pinned: registration with a network adapter needs this.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/units.hpp"
#include "cli/doctor/finding.hpp"

namespace sluice::cli {

namespace {

constexpr int k_cap_ipc_lock = 14;

/// Runs in a process of its own, which returns the memory when it ends.
bool can_lock(std::size_t bytes) {
    return true_in_child([bytes] {
        void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return at != MAP_FAILED && mlock(at, bytes) == 0;
    });
}

std::string text_of(rlim_t limit) {
    return limit == RLIM_INFINITY ? "unlimited" : base::format_bytes(Bytes{limit});
}

/// Their names, in order.
std::vector<std::string> rdma_devices() {
    std::vector<std::string> names;
    std::error_code unseen;
    for (auto const& entry : std::filesystem::directory_iterator("/sys/class/infiniband", unseen))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

Finding look_for_devices() {
    std::vector<std::string> const names = rdma_devices();
    if (names.empty())
        return {Health::fact, "RDMA devices", "none", "--registration changes nothing: no memory is registered", ""};
    return {Health::ok, "RDMA devices", fmt::format("{}", fmt::join(names, ", ")),
            "with --registration buffers are pinned only while they are needed (over UCX 1.13)", ""};
}

}  // namespace

Findings look_at_locked_memory() {
    rlimit limit{};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    bool const free_of_it = has_capability(status_field("CapEff"), k_cap_ipc_lock);
    bool const enough = free_of_it || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= (std::uint64_t{1} << 30);
    // The trial is just beyond the limit, so that it tests what the capability promises.
    std::size_t const trial =
        limit.rlim_cur < (64 << 20) ? static_cast<std::size_t>(limit.rlim_cur) + (1 << 20) : 1 << 20;
    bool const locked = can_lock(trial);
    Findings findings;
    findings.push_back(
        {enough ? Health::ok : Health::limited, "RLIMIT_MEMLOCK",
         fmt::format("{}, at most {}", text_of(limit.rlim_cur), text_of(limit.rlim_max)),
         enough ? "buffers can be registered with a network adapter"
                : "registering more with a network adapter fails; caches of registrations must stay below",
         enough ? ""
                : "ulimit -l unlimited (permanently: '* - memlock unlimited' in /etc/security/limits.conf; "
                  "Slurm: PropagateResourceLimitsExcept=MEMLOCK)"});
    findings.push_back({free_of_it ? Health::ok : Health::fact, "CAP_IPC_LOCK", free_of_it ? "held" : "not held",
                        free_of_it ? "RLIMIT_MEMLOCK does not bind this process; it binds users without it"
                                   : "RLIMIT_MEMLOCK binds this process",
                        free_of_it ? "" : "setcap cap_ipc_lock+ep PROGRAM, or docker run --cap-add=IPC_LOCK"});
    bool const expected = enough || trial <= limit.rlim_cur;
    findings.push_back(
        {locked ? Health::ok : Health::limited, "mlock",
         fmt::format("{} {}", base::format_bytes(Bytes{trial}), locked ? "can be locked" : "cannot be locked"),
         locked || expected ? "pages that the kernel may not move away" : "the limit holds", ""});
    findings.push_back(look_for_devices());
    return findings;
}

}  // namespace sluice::cli
