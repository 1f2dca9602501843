// SPDX-License-Identifier: BSD-3-Clause
#include "cli/support/launch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "cli/support/command.hpp"

namespace sluice::cli {

namespace {

volatile std::sig_atomic_t running_child = 0;

extern "C" void pass_on_and_end(int signal_number) {
    if (running_child > 0) kill(static_cast<pid_t>(running_child), SIGTERM);
    std::signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/// What the signals did that this process handles while a child of its own runs; they do it again when this object
/// dies.
class Signals {
  public:
    Signals() {
        for (std::size_t i = 0; i < k_numbers.size(); ++i)
            sigaction(k_numbers[i], nullptr, &before_[i]);
        std::signal(SIGCHLD, SIG_DFL);  // a process that ignores the ends of its children cannot wait for them
    }
    Signals(Signals const&) = delete;
    Signals& operator=(Signals const&) = delete;
    ~Signals() {
        running_child = 0;
        give_back();
    }

    /// Signals that end this process end the child, too; those that it ignores stay ignored.
    void pass_on_to(pid_t child) const {
        running_child = child;
        for (std::size_t i = 0; i < k_numbers.size(); ++i)
            if (k_numbers[i] != SIGCHLD && before_[i].sa_handler != SIG_IGN) std::signal(k_numbers[i], pass_on_and_end);
    }

    void give_back() const {
        for (std::size_t i = 0; i < k_numbers.size(); ++i)
            sigaction(k_numbers[i], &before_[i], nullptr);
    }

  private:
    static constexpr std::array k_numbers{SIGINT, SIGTERM, SIGHUP, SIGCHLD};
    std::array<struct sigaction, k_numbers.size()> before_{};
};

/// An open file that is closed when this object dies.
class Descriptor {
  public:
    explicit Descriptor(int open) : number_(open) {
        if (open < 0) throw std::runtime_error(std::string("cannot open a file: ") + std::strerror(errno));
    }
    Descriptor(Descriptor const&) = delete;
    Descriptor& operator=(Descriptor const&) = delete;
    ~Descriptor() { close(number_); }
    int number() const noexcept { return number_; }

  private:
    int number_;
};

/// Makes `number` that open file, also if it is that file already: dup2 would leave it to be closed by execvp.
void put(int file, int number) {
    if (file == number)
        fcntl(file, F_SETFD, 0);
    else
        dup2(file, number);
}

[[noreturn]] void become(std::vector<std::string> const& command, std::vector<std::string> const& environment, int out,
                         int complaints) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (std::string const& entry : environment)
        putenv(strdup(entry.c_str()));
    put(out, STDOUT_FILENO);
    put(complaints, STDERR_FILENO);
    int const nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) put(nothing, STDIN_FILENO);
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (std::string const& argument : command)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    std::string const text = "cannot start " + command.front() + ": " + std::strerror(errno) + "\n";
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) _exit(126);
    _exit(127);
}

/// Returns the last part of a file in memory; the start of a long output is not needed.
std::string tail_of(int file) {
    std::array<char, 4000> text{};
    off_t const size = lseek(file, 0, SEEK_END);
    off_t const from = size > static_cast<off_t>(text.size()) ? size - static_cast<off_t>(text.size()) : 0;
    ssize_t const got = pread(file, text.data(), text.size(), from);
    return got > 0 ? std::string(text.data(), static_cast<std::size_t>(got)) : std::string();
}

/// Returns false if no line came for `silence_seconds`.
bool read_lines(int from, int silence_seconds, std::function<void(std::string const&)> const& on_line) {
    std::string pending;
    std::array<char, 65536> buffer{};
    while (true) {
        pollfd watched{from, POLLIN, 0};
        int const ready = poll(&watched, 1, silence_seconds * 1000);
        if (ready == 0) return false;
        if (ready < 0 && errno == EINTR) continue;
        ssize_t const got = read(from, buffer.data(), buffer.size());
        if (got <= 0) return true;
        pending.append(buffer.data(), static_cast<std::size_t>(got));
        for (std::size_t end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
            on_line(pending.substr(0, end));
            pending.erase(0, end + 1);
        }
    }
}

/// Waits for `child`. If it is to be stopped, asks it to end first and kills it after five seconds.
int wait_for(pid_t child, bool stop) {
    int status = 0;
    if (stop) {
        kill(child, SIGTERM);
        for (int tenth = 0; tenth < 50; ++tenth) {
            if (waitpid(child, &status, WNOHANG) == child) return status;
            usleep(100000);
        }
        kill(child, SIGKILL);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

}  // namespace

Ended launch(std::vector<std::string> const& command, std::vector<std::string> const& environment, int silence_seconds,
             std::function<void(std::string const&)> const& on_line) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));
    Descriptor const reading(ends[0]);
    Descriptor const complaints(memfd_create("complaints", MFD_CLOEXEC));
    Signals const signals;
    pid_t child = -1;
    {
        Descriptor const writing(ends[1]);
        child = fork();
        if (child < 0) throw std::runtime_error(std::string("cannot start a process: ") + std::strerror(errno));
        if (child == 0) {
            signals.give_back();
            become(command, environment, writing.number(), complaints.number());
        }
    }
    signals.pass_on_to(child);
    Ended ended;
    ended.silent = !read_lines(reading.number(), silence_seconds, on_line);
    int const status = wait_for(child, ended.silent);
    running_child = 0;
    ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    ended.complaints = tail_of(complaints.number());
    return ended;
}

}  // namespace sluice::cli
