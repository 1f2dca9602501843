// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/process/beside.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>

#include "kernel/files/descriptor.hpp"
#include "kernel/process_stat.hpp"

extern char** environ;
/// clone, by the name that libc itself uses: thread sanitizers put a function of their own in place of clone, which
/// takes the new process for one with a memory of its own.
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);

namespace sluice::kernel {

namespace {

constexpr std::size_t k_stack = 128 << 10;
// If another thread of the program has forked meanwhile, its child keeps the pipe open: so the command is looked at,
// too.
constexpr int k_look_ms = 200;

struct Start {
    char const* path;
    char* const* arguments;
    char* const* environment;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t command;
};

int start_and_end(void* argument) {
    auto& start = *static_cast<Start*>(argument);
    if (posix_spawn(&start.command, start.path, &start.actions, &start.attributes, start.arguments,
                    start.environment) != 0)
        start.command = 0;
    _exit(0);
}

/// Returns the number of the command's process, or 0.
pid_t start_orphan(Start& start) {
    void* const stack = mmap(nullptr, k_stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) return 0;
    // The process in between shares our memory: no handler of the program may run in it.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    // No signal for its end among the flags.
    pid_t const between =
        __clone(start_and_end, static_cast<std::byte*>(stack) + k_stack, CLONE_VM | CLONE_VFORK, &start);
    if (between > 0)
        while (waitpid(between, nullptr, __WALL) < 0 && errno == EINTR) {
        }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    munmap(stack, k_stack);
    return between > 0 ? start.command : 0;
}

bool has_ended(pid_t process) {
    auto const stat = process_stat(process);
    return !stat || stat->state == 'Z' || stat->state == 'X';
}

/// Until the zero byte, the end of the file or the end of the command.
std::optional<std::string> read_output(int pipe, pid_t command) {
    std::string text;
    std::array<char, 4096> room;
    for (bool ended = false;;) {
        pollfd waits{pipe, POLLIN, 0};
        int const ready = poll(&waits, 1, ended ? 0 : k_look_ms);
        if (ready == 0 && ended) return std::nullopt;
        if (ready == 0) ended = has_ended(command);
        if (ready <= 0) continue;
        ssize_t const got = read(pipe, room.data(), room.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return std::nullopt;
        text.append(room.data(), static_cast<std::size_t>(got));
        if (std::size_t const end = text.find('\0'); end != std::string::npos) {
            text.resize(end);
            return text;
        }
    }
}

/// As the first process of a container does, and a process that has asked for it (a subreaper).
bool collects_orphans() noexcept {
    int is_subreaper = 0;
    return getpid() == 1 || (prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper) == 0 && is_subreaper != 0);
}

std::vector<char*> environment_of_command() {
    std::vector<char*> list;
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
        if (std::strncmp(*variable, "LD_PRELOAD=", 11) != 0) list.push_back(*variable);
    list.push_back(nullptr);
    return list;
}

std::optional<std::string> run(std::vector<std::string> const& command) {
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (std::string const& argument : command)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    std::vector<char*> const environment = environment_of_command();
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
    Descriptor const out = above_standard(ends[0]);
    Descriptor in = above_standard(ends[1]);
    if (!out.is_open() || !in.is_open()) return std::nullopt;
    Start start{arguments[0], arguments.data(), environment.data(), {}, {}, 0};
    posix_spawn_file_actions_init(&start.actions);
    posix_spawn_file_actions_addopen(&start.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&start.actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&start.actions, in.get(), STDOUT_FILENO);
    // The command begins with no signal blocked or ignored.
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&start.attributes);
    posix_spawnattr_setsigmask(&start.attributes, &none);
    posix_spawnattr_setsigdefault(&start.attributes, &all);
    posix_spawnattr_setflags(&start.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    pid_t const process = start_orphan(start);
    posix_spawn_file_actions_destroy(&start.actions);
    posix_spawnattr_destroy(&start.attributes);
    in.reset();
    return process > 0 ? read_output(out.get(), process) : std::nullopt;
}

}  // namespace

std::optional<std::string> output_of_beside(std::vector<std::string> const& command) noexcept {
    if (collects_orphans()) return std::nullopt;
    try {
        return run(command);
    } catch (...) {  // no memory
        return std::nullopt;
    }
}

}  // namespace sluice::kernel
