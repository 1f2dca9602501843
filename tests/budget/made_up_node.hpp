// SPDX-License-Identifier: BSD-3-Clause
/// A machine of files: 24 GiB of memory of which 20 are available; the process is in the group /job, which has a limit.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "sluice/units.hpp"

namespace sluice::tests {

class MadeUpNode : public testing::Test {
  protected:
    MadeUpNode() {
        std::string pattern = (std::filesystem::temp_directory_path() / "sluice-node-XXXXXX").string();
        root_ = mkdtemp(pattern.data());
        write("/proc/meminfo", "MemTotal:       25165824 kB\nMemFree: 1 kB\nMemAvailable:   20971520 kB\n");
        write("/proc/self/status", "VmSize: 921600 kB\nVmRSS: 102400 kB\nVmData: 307200 kB\n");
        statm(900_MiB, 100_MiB, 20_MiB, 300_MiB);
        limits("unlimited", "unlimited");
    }
    ~MadeUpNode() override {
        if (getpid() == owner_) std::filesystem::remove_all(root_);
    }

    /// Writes in place, so that a process with the file open reads the new text.
    void write(std::string const& path, std::string const& text) const {
        std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
        std::ofstream(root_ + path) << text;
    }
    void statm(Bytes size, Bytes resident, Bytes shared, Bytes data) const {
        auto const pages = [](Bytes bytes) {
            return std::to_string(bytes.count / static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))) + " ";
        };
        write("/proc/self/statm", pages(size) + pages(resident) + pages(shared) + "10 0 " + pages(data) + "0\n");
    }
    void limits(std::string const& data, std::string const& address_space) const {
        write("/proc/self/limits",
              "Limit                     Soft Limit           Hard Limit           Units     \n"
              "Max data size             " +
                  data +
                  "            unlimited            bytes     \n"
                  "Max address space         " +
                  address_space + "            unlimited            bytes     \n");
    }
    void group_one(Bytes limit, Bytes used, Bytes cache = {}) const {
        write("/proc/self/cgroup", "4:cpu,memory:/job\n");
        write("/proc/self/mountinfo", "35 31 0:32 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,cpu,memory\n");
        write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", std::to_string(limit.count) + "\n");
        write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", std::to_string(used.count) + "\n");
        write("/sys/fs/cgroup/memory/job/memory.stat",
              "cache 1\ninactive_file 7\nhierarchical_memory_limit 9223372036854771712\ntotal_inactive_file " +
                  std::to_string(cache.count) + "\ntotal_active_file 0\n");
    }

    std::string root_;
    pid_t owner_ = getpid();
};

}  // namespace sluice::tests
