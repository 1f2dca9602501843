// SPDX-License-Identifier: BSD-3-Clause
#include "fluctuation/neighbour.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include "sluice/error.hpp"

namespace sluice::bench {

namespace {

constexpr char const* k_word = "--memory-neighbour";
constexpr char k_take = '+';
constexpr char k_give_back = '-';
constexpr char k_taken = '.';

Error failed(std::string const& what, int number) {
    return {ErrorCode::internal, "memory neighbour: " + what + ": " + std::strerror(number)};
}

}  // namespace

MemoryNeighbour::MemoryNeighbour(std::uint64_t bytes) {
    std::array<int, 2> to{};
    std::array<int, 2> from{};
    if (pipe2(to.data(), O_CLOEXEC) != 0 || pipe2(from.data(), O_CLOEXEC) != 0) throw failed("no pipe", errno);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    std::string const amount = std::to_string(bytes);
    std::array<char*, 4> const arguments{const_cast<char*>("/proc/self/exe"), const_cast<char*>(k_word),
                                         const_cast<char*>(amount.c_str()), nullptr};
    int const failure = posix_spawn(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(to[0]);
    close(from[1]);
    commands_ = to[1];
    answers_ = from[0];
    if (failure != 0) throw failed("no process", failure);
    fcntl(answers_, F_SETFL, O_NONBLOCK);
}

MemoryNeighbour::~MemoryNeighbour() {
    close(commands_);  // the process ends when it sees this
    close(answers_);
    waitpid(process_, nullptr, 0);
}

void MemoryNeighbour::command(char letter) const {
    if (write(commands_, &letter, 1) != 1) throw failed("it has ended", errno);
}

void MemoryNeighbour::take() {
    command(k_take);
}

void MemoryNeighbour::give_back() {
    command(k_give_back);
}

std::uint64_t MemoryNeighbour::times_taken() {
    char letter = 0;
    while (read(answers_, &letter, 1) == 1)
        ++taken_;
    return taken_;
}

bool memory_neighbour_main(int argc, char** argv) {
    if (argc != 3 || std::strcmp(argv[1], k_word) != 0) return false;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (nice(19) == -1 && errno == EACCES) return true;  // at normal priority it would slow the benchmark down
    auto const bytes = std::strtoull(argv[2], nullptr, 10);
    auto const page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    void* held = MAP_FAILED;
    for (char letter = 0; read(STDIN_FILENO, &letter, 1) == 1;) {
        if (held != MAP_FAILED) munmap(held, bytes);
        held = MAP_FAILED;
        if (letter != k_take) continue;
        held = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (held == MAP_FAILED) continue;
        for (std::uint64_t at = 0; at < bytes; at += page)
            static_cast<char volatile*>(held)[at] = 1;
        if (write(STDOUT_FILENO, &k_taken, 1) != 1) break;
    }
    return true;
}

}  // namespace sluice::bench
