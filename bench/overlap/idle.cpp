// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/idle.hpp"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

namespace sluice::bench {

namespace {

/// By the thread's number. Threads that end while this looks at them are left out.
std::map<int, ThreadWakeUps> other_threads() {
    constexpr char const* k_field = "voluntary_ctxt_switches:";
    std::map<int, ThreadWakeUps> threads;
    for (auto const& task : std::filesystem::directory_iterator("/proc/self/task")) {
        int const number = std::stoi(task.path().filename().string());
        if (number == gettid()) continue;
        ThreadWakeUps thread;
        std::getline(std::ifstream(task.path() / "comm"), thread.name);
        std::ifstream status(task.path() / "status");
        for (std::string word; status >> word;)
            if (word == k_field && status >> thread.wake_ups) threads[number] = thread;
    }
    return threads;
}

}  // namespace

std::vector<ThreadWakeUps> wake_ups_while_idle(double seconds) {
    auto const before = other_threads();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    std::vector<ThreadWakeUps> counted;
    for (auto const& [number, thread] : other_threads()) {
        auto const known = before.find(number);
        std::uint64_t const earlier = known != before.end() ? known->second.wake_ups : 0;
        counted.push_back({thread.name, thread.wake_ups - earlier});
    }
    return counted;
}

double seconds_without_processor() {
    double running = 0;
    double waiting = 0;
    std::ifstream("/proc/thread-self/schedstat") >> running >> waiting;
    return waiting * 1e-9;
}

}  // namespace sluice::bench
