// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/process/own_limit.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "kernel/files/read_text.hpp"
#include "kernel/proc_text.hpp"

namespace sluice::kernel {

namespace {

/// 0 stands for none.
std::uint64_t limit_of(__rlimit_resource_t resource) noexcept {
    rlimit found{};
    if (getrlimit(resource, &found) != 0 || found.rlim_cur == RLIM_INFINITY) return 0;
    return found.rlim_cur;
}

std::uint64_t room_of(OwnLimit const& own) noexcept {
    return own.limit > own.used ? own.limit - own.used : 0;
}

}  // namespace

OwnLimit tightest_own_limit() noexcept {
    OwnLimit space{limit_of(RLIMIT_AS), 0, true};
    OwnLimit data{limit_of(RLIMIT_DATA), 0, false};
    if (space.limit == 0 && data.limit == 0) return {};
    std::array<char, 256> room;
    std::optional<Statm> const statm = statm_in(read_text("/proc/self/statm", room));
    if (!statm) return {};
    auto const page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    space.used = statm->size * page;
    data.used = statm->data * page;
    if (space.limit == 0 || data.limit == 0) return space.limit == 0 ? data : space;
    return room_of(space) < room_of(data) ? space : data;
}

}  // namespace sluice::kernel
