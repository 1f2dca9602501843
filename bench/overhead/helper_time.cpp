// SPDX-License-Identifier: BSD-3-Clause
#include "overhead/helper_time.hpp"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

namespace sluice::bench {

namespace {

/// Returns the clock of a thread's processor time, by the thread's number, in Linux's own encoding, which
/// pthread_getcpuclockid uses, too.
clockid_t processor_clock(int thread) {
    constexpr unsigned k_of_thread = 4;
    constexpr unsigned k_scheduler = 2;
    return static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3U | k_of_thread | k_scheduler);
}

}  // namespace

double helper_seconds() {
    double seconds = 0;
    for (auto const& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::ifstream(task.path() / "comm") >> name;
        timespec used{};
        if (name != "sluice-helper" ||
            clock_gettime(processor_clock(std::stoi(task.path().filename().string())), &used) != 0)
            continue;
        seconds += static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
    }
    return seconds;
}

}  // namespace sluice::bench
