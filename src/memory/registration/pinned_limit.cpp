// SPDX-License-Identifier: BSD-3-Clause
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "memory/registration/cache.hpp"

namespace sluice::memory::registration {

namespace {

/// RLIMIT_MEMLOCK does not bind a process with CAP_IPC_LOCK.
bool may_lock_all() noexcept {
    __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
    return syscall(SYS_capget, &head, data) == 0 && (data[0].effective & (1U << CAP_IPC_LOCK)) != 0;
}

}  // namespace

Bytes pinned_limit(Bytes setting) {
    Bytes const wanted = setting.count != 0 ? setting : Bytes{std::numeric_limits<std::uint64_t>::max()};
    rlimit limit{};
    if (may_lock_all() || getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
    return std::min(wanted, Bytes{limit.rlim_cur});
}

}  // namespace sluice::memory::registration
