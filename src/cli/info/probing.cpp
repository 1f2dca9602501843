// SPDX-License-Identifier: BSD-3-Clause
#include "cli/info/probing.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <stdexcept>

#include "budget/memory_usage.hpp"

namespace sluice::cli {

namespace {

constexpr std::size_t k_page = 4096;
constexpr std::size_t k_least_step = std::size_t{256} << 10;
constexpr std::size_t k_most_step = std::size_t{64} << 20;
// After this number of steps with hardly any growth, the resident size counts as final.
constexpr int k_steps_without_growth = 4;

/// What the child tells: it is in shared memory, because the child may be killed at any time.
struct Said {
    std::atomic<std::uint64_t> touched{0};
    std::atomic<std::uint64_t> resident{0};
    std::atomic<int> end{-1};
};

void ask_to_be_killed_first() {
    int const file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, "1000", 4) != 4) _exit(1);  // otherwise another process might be killed
    close(file);
}

/// Runs in the child: after fork it may make system calls only.
void touch(Said& said, std::size_t most, budget::PrivateMemory const& memory) {
    std::uint64_t const before = memory.read().count;
    std::uint64_t best = 0;
    int without_growth = 0;
    std::size_t const step = std::clamp(most / 256 / k_page * k_page, k_least_step, k_most_step);
    for (std::size_t touched = 0; touched < most;) {
        void* const where = mmap(nullptr, step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (where == MAP_FAILED) {
            said.end = static_cast<int>(Probing::End::refused);
            return;
        }
        // The memory has small pages of its own: a large page would become resident at one touch and be counted early.
        madvise(where, step, MADV_NOHUGEPAGE);
        for (std::size_t at = 0; at < step; at += k_page)
            static_cast<char*>(where)[at] = 1;
        touched += step;
        std::uint64_t const now = memory.read().count;
        std::uint64_t const resident = now > before ? now - before : 0;
        said.touched = touched;
        without_growth = resident < best + step / 2 ? without_growth + 1 : 0;
        best = std::max(best, resident);
        said.resident = best;
        if (without_growth >= k_steps_without_growth) {
            said.end = static_cast<int>(Probing::End::not_resident);
            return;
        }
    }
    said.end = static_cast<int>(Probing::End::all_touched);
}

/// Returns whether the child has ended in time; it has ended in any case afterwards.
bool wait_for(pid_t child, std::chrono::seconds limit, int& status) {
    auto const end = std::chrono::steady_clock::now() + limit;
    bool in_time = true;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (in_time && std::chrono::steady_clock::now() >= end) {
            in_time = false;
            kill(child, SIGKILL);
        }
        timespec const pause{0, 2'000'000};
        nanosleep(&pause, nullptr);
    }
    return in_time;
}

}  // namespace

Probing probe_memory(Bytes most, std::chrono::seconds limit) {
    void* const shared = mmap(nullptr, k_page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw std::runtime_error(std::string("no memory to probe with: ") + std::strerror(errno));
    Said& said = *new (shared) Said;
    pid_t const parent = getpid();
    pid_t const child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        ask_to_be_killed_first();
        touch(said, most.count, budget::PrivateMemory());
        _exit(0);
    }
    int status = 0;
    bool const in_time = child > 0 && wait_for(child, limit, status);
    int const end = said.end;
    Probing probing{Bytes{said.touched}, Bytes{said.resident}, Probing::End::out_of_time};
    munmap(shared, k_page);
    if (child < 0) throw std::runtime_error(std::string("no process to probe with: ") + std::strerror(errno));
    if (in_time && WIFSIGNALED(status))
        probing.end = Probing::End::killed;
    else if (in_time && end < 0)
        throw std::runtime_error("the probing process could not ask the kernel to be killed first");
    else if (end >= 0)
        probing.end = static_cast<Probing::End>(end);
    return probing;
}

std::string text_of(Probing::End end) {
    switch (end) {
        case Probing::End::not_resident:
            return "more memory did not stay resident";
        case Probing::End::killed:
            return "then the kernel killed the process that probed";
        case Probing::End::refused:
            return "the kernel gave no more memory";
        case Probing::End::all_touched:
            return "all memory that was to be touched stayed resident";
        case Probing::End::out_of_time:
            break;
    }
    return "then its time limit was reached";
}

}  // namespace sluice::cli
