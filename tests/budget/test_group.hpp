// SPDX-License-Identifier: BSD-3-Clause
/// Control groups made for a test. Needs root.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

namespace sluice::tests {

/// A control group below `parent`; folder() is empty if none can be made.
class TestGroup {
  public:
    explicit TestGroup(std::string const& parent) {
        std::string const folder = parent + "/sluice-events-" + std::to_string(getpid());
        if (!parent.empty() && mkdir(folder.c_str(), 0755) == 0) folder_ = folder;
    }
    TestGroup(TestGroup const&) = delete;
    TestGroup& operator=(TestGroup const&) = delete;
    ~TestGroup() {
        // A process that has ended leaves its group a moment later.
        for (int i = 0; !folder_.empty() && rmdir(folder_.c_str()) != 0 && errno == EBUSY && i < 1000; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::string const& folder() const { return folder_; }
    void set(std::string const& file, std::string const& text) const { std::ofstream(folder_ + "/" + file) << text; }
    void add(pid_t process) const { set("cgroup.procs", std::to_string(process)); }

  private:
    std::string folder_;
};

/// Returns the folder of the groups of version 2, which may have no controller; empty if there are none.
inline std::string hierarchy_of_version_two() {
    std::string hierarchy;
    std::ifstream mounts("/proc/self/mounts");
    for (std::string device, point, kind, rest; mounts >> device >> point >> kind && std::getline(mounts, rest);)
        if (kind == "cgroup2") hierarchy = point;
    return hierarchy;
}

/// Has no time limit, because a machine may be busy: the watchdog ends a test in which this never becomes true.
inline void wait_until(std::function<bool()> const& what) {
    while (!what())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace sluice::tests
