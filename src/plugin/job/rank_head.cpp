// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/rank_head.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "plugin/binding/clock.hpp"

namespace sluice::plugin {

namespace {

void copy_text(std::span<char> to, char const* from) {
    std::strncpy(to.data(), from, to.size() - 1);
}

}  // namespace

void describe_rank(record::RankHead& head, int rank, int size) {
    head.world_rank = static_cast<std::uint32_t>(rank);
    head.world_size = static_cast<std::uint32_t>(size);
    std::string version(8192, '\0');
    int length = 0;
    MPI_Get_library_version(version.data(), &length);
    std::string const name = version.substr(0, version.find_first_of(",\n"));
    std::string shown = name.starts_with("MPICH") ? "MPICH" : name.substr(0, 40);
    if (std::size_t const at = version.find("Version:"); at != std::string::npos) {
        std::size_t const from = version.find_first_not_of(" \t", at + 8);
        shown += " " + version.substr(from, version.find('\n', from) - from);
    }
    copy_text(head.mpi, shown.c_str());
    head.processors = static_cast<std::uint32_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 0L));
    head.used = 1;
}

void write_end(record::RankHead& head, record::State state, std::uint64_t end_us) noexcept {
    head.state = state;
    head.end_us = end_us;
    head.end_unix_us = unix_us();
}

}  // namespace sluice::plugin
