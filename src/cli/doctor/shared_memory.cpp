// SPDX-License-Identifier: BSD-3-Clause
// Findings on /dev/shm, which holds the segments of MPIs and the rings of a node.
#include <fmt/format.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>

#include "base/units.hpp"
#include "cli/doctor/finding.hpp"

namespace sluice::cli {

Findings look_at_shared_memory() {
    struct statvfs shm {};
    if (statvfs("/dev/shm", &shm) != 0)
        return {{Health::missing, "/dev/shm", std::strerror(errno), "ranks of a node communicate through the network",
                 "mount -t tmpfs -o size=50% tmpfs /dev/shm"}};
    Bytes const size{static_cast<std::uint64_t>(shm.f_blocks) * shm.f_frsize};
    Bytes const free{static_cast<std::uint64_t>(shm.f_bavail) * shm.f_frsize};
    bool const ok = free >= 64_MiB;
    return {{ok ? Health::ok : Health::limited, "/dev/shm",
             fmt::format("{}, {} free", base::format_bytes(size), base::format_bytes(free)),
             ok ? "room for the segments of the MPIs and the rings of a node; it counts for the process that touches it"
                : "MPIs and the rings of a node need some 64 MiB; programs die by SIGBUS if it is full",
             ok ? "" : "mount -o remount,size=50% /dev/shm; docker run --shm-size=2g"}};
}

}  // namespace sluice::cli
