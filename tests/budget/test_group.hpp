/// Control groups made for a test, and a process that lives in one. Needs root.
#pragma once

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sluice::tests {

/// A control group below `parent`; folder() is empty where none can be made.
class TestGroup {
  public:
    explicit TestGroup(std::string const& parent) {
        std::string const folder = parent + "/sluice-events-" + std::to_string(getpid());
        if (!parent.empty() && mkdir(folder.c_str(), 0755) == 0) folder_ = folder;
    }
    TestGroup(TestGroup const&) = delete;
    TestGroup& operator=(TestGroup const&) = delete;
    ~TestGroup() {
        // Who has ended leaves a moment later.
        for (int i = 0; !folder_.empty() && rmdir(folder_.c_str()) != 0 && errno == EBUSY && i < 1000; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::string const& folder() const { return folder_; }
    void set(std::string const& file, std::string const& text) const { std::ofstream(folder_ + "/" + file) << text; }

  private:
    std::string folder_;
};

/// A process in a group: takes a MiB for each '+' and frees one for each '-', and answers.
class Neighbour {
  public:
    explicit Neighbour(TestGroup const& group) {
        if (pipe(to_) != 0 || pipe(from_) != 0) throw std::runtime_error("no pipe");
        process_ = fork();
        if (process_ == 0) live();
        close(to_[0]);
        close(from_[1]);  // who reads is told when it dies
        group.set("cgroup.procs", std::to_string(process_));
    }
    Neighbour(Neighbour const&) = delete;
    Neighbour& operator=(Neighbour const&) = delete;
    ~Neighbour() {
        close(to_[1]);
        waitpid(process_, nullptr, 0);
        close(from_[0]);
    }
    void take(int mebibytes) const { ask('+', mebibytes); }
    void free(int mebibytes) const { ask('-', mebibytes); }

  private:
    static constexpr std::size_t k_step = std::size_t{1} << 20;

    void ask(char what, int times) const {
        for (int i = 0; i < times; ++i)
            if (char done = what; write(to_[1], &what, 1) != 1 || read(from_[0], &done, 1) != 1)
                throw std::runtime_error("the neighbour is gone");
    }
    [[noreturn]] void live() const {
        close(to_[1]);
        std::vector<void*> taken;
        for (char what = 0; read(to_[0], &what, 1) == 1;) {
            if (what == '+') {
                // Populated by the kernel: a sanitizer's notes of what is written would be memory of the group, too.
                taken.push_back(
                    mmap(nullptr, k_step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
            } else {
                munmap(taken.back(), k_step);
                taken.pop_back();
            }
            if (write(from_[1], &what, 1) != 1) break;
        }
        _exit(0);
    }
    int to_[2]{};
    int from_[2]{};
    pid_t process_;
};

/// Where the groups of version 2 are, which may be without any controller; empty where there are none.
inline std::string hierarchy_of_version_two() {
    std::string hierarchy;
    std::ifstream mounts("/proc/self/mounts");
    for (std::string device, point, kind, rest; mounts >> device >> point >> kind && std::getline(mounts, rest);)
        if (kind == "cgroup2") hierarchy = point;
    return hierarchy;
}

/// Within a minute, for the machine may be busy.
inline bool comes_true(std::function<bool()> const& what) {
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < end) {
        if (what()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
}

}  // namespace sluice::tests
