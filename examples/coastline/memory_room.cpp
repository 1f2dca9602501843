// SPDX-License-Identifier: BSD-3-Clause
#include "memory_room.hpp"

#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <stdexcept>

namespace coastline {

namespace {

/// Returns the value of a line "NAME: 123 kB" of /proc/self/status, in bytes.
std::uint64_t status_bytes(std::string const& name) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word; status.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
        std::uint64_t kibibytes = 0;
        if (word == name + ":" && status >> kibibytes) return kibibytes << 10;
    }
    throw std::runtime_error("/proc/self/status has no " + name);
}

/// Reads a file with one number; returns 0 for the word "max".
std::uint64_t number_in(std::string const& path) {
    std::ifstream file(path);
    std::string text;
    if (!(file >> text)) throw std::runtime_error(path + " cannot be read");
    return text == "max" ? 0 : std::stoull(text);
}

/// Returns the value of a line "name 123" of a memory.stat file.
std::uint64_t stat_in(std::string const& path, std::string const& name) {
    std::ifstream file(path);
    std::uint64_t value = 0;
    for (std::string word; file >> word >> value;) {
        if (word == name) return value;
    }
    throw std::runtime_error(path + " has no " + name);
}

MemoryRoom room_of_group(std::string const& group) {
    bool const v1 = std::ifstream(group + "/memory.limit_in_bytes").good();
    std::string const stat = group + "/memory.stat";
    std::uint64_t const kernel = v1 ? number_in(group + "/memory.kmem.usage_in_bytes") : stat_in(stat, "kernel");
    std::uint64_t limit = number_in(group + (v1 ? "/memory.limit_in_bytes" : "/memory.max"));
    if (limit > std::uint64_t{1} << 60) limit = 0;  // this is how v1 says "none"
    return {v1 ? "control group v1" : "control group v2", limit,
            stat_in(stat, v1 ? "rss" : "anon") + stat_in(stat, "shmem") + kernel};
}

}  // namespace

MemoryRoom memory_room(MPI_Comm comm) {
    MPI_Barrier(comm);
    MemoryRoom room{"RLIMIT_DATA", 0, status_bytes("VmData")};
    if (char const* group = std::getenv("LIMITED_CGROUP")) {
        room = room_of_group(group);
        MPI_Bcast(&room.held, 1, MPI_UINT64_T, 0, comm);  // all ranks take the same figure, which changes
        return room;
    }
    rlimit limit{};
    if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) room.limit = limit.rlim_cur;
    MPI_Allreduce(MPI_IN_PLACE, &room.limit, 1, MPI_UINT64_T, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, &room.held, 1, MPI_UINT64_T, MPI_SUM, comm);
    return room;
}

ResidentGrowth::ResidentGrowth() {
    std::ofstream("/proc/self/clear_refs") << "5\n";  // resets the peak to the memory that is resident now
    before_ = status_bytes("VmHWM");
}

std::uint64_t ResidentGrowth::peak() const {
    std::uint64_t const peak = status_bytes("VmHWM");
    return peak > before_ ? peak - before_ : 0;
}

}  // namespace coastline
