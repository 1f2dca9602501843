// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes of another process's memory: the one copy of a transfer inside a node.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "cli/doctor/single_copy.hpp"

namespace sluice::cli {

namespace {

constexpr std::size_t k_bytes = 8192;
constexpr unsigned char k_theirs = 0x5A;
constexpr unsigned char k_mine = 0xA5;

bool all_are(unsigned char const* bytes, unsigned char value) {
    for (std::size_t i = 0; i < k_bytes; ++i)
        if (bytes[i] != value) return false;
    return true;
}

/// Returns the kernel's error when a sibling of the process that owns `at` reads it; 0 if it reads, and the bytes are
/// right.
int read_from(pid_t owner, void* at) {
    std::array<unsigned char, k_bytes> seen{};
    iovec const local{seen.data(), seen.size()};
    iovec const remote{at, k_bytes};
    if (process_vm_readv(owner, &local, 1, &remote, 1, 0) != static_cast<ssize_t>(k_bytes)) return errno;
    return all_are(seen.data(), k_theirs) ? 0 : EIO;
}

int write_to(pid_t owner, void* at) {
    std::array<unsigned char, k_bytes> bytes{};
    bytes.fill(k_mine);
    iovec const local{bytes.data(), bytes.size()};
    iovec const remote{at, k_bytes};
    return process_vm_writev(owner, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(k_bytes) ? 0 : errno;
}

/// Runs the process that owns the memory to be read, then written; it reports the result.
[[noreturn]] void be_the_owner(unsigned char* at, int commands, int answers) {
    std::memset(at, k_theirs, k_bytes);
    char token = 'w';
    if (write(answers, &token, 1) != 1 || read(commands, &token, 1) < 0) _exit(1);
    token = all_are(at, k_mine) ? 'y' : 'n';
    _exit(write(answers, &token, 1) == 1 ? 0 : 1);
}

/// Returns the exit code of a sibling process that tried `access`; 255 if there was none.
int tried_by_brother(int (*access)(pid_t, void*), pid_t owner, void* at) {
    pid_t const brother = fork();
    if (brother == 0) _exit(access(owner, at));
    int status = 0;
    if (brother < 0 || waitpid(brother, &status, 0) != brother || !WIFEXITED(status)) return 255;
    return WEXITSTATUS(status);
}

struct Access {
    int read = 255;  ///< errno; 0: works; 255: could not be tried
    int write = 255;
};

/// Uses two sibling processes, as two ranks of a node are.
Access try_brothers() {
    Access access;
    void* const at = mmap(nullptr, k_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int commands[2];
    int answers[2];
    if (at == MAP_FAILED || pipe(commands) != 0) return access;
    if (pipe(answers) != 0) return access;
    pid_t const owner = fork();
    if (owner == 0) {
        close(commands[1]);  // otherwise this side never sees that the parent has closed its end
        be_the_owner(static_cast<unsigned char*>(at), commands[0], answers[1]);
    }
    char token = 0;
    if (owner > 0 && read(answers[0], &token, 1) == 1) {
        access.read = tried_by_brother(read_from, owner, at);
        access.write = tried_by_brother(write_to, owner, at);
        close(commands[1]);
        bool const arrived = read(answers[0], &token, 1) == 1 && token == 'y';
        if (access.write == 0 && !arrived) access.write = EIO;
    } else {
        close(commands[1]);
    }
    if (owner > 0) waitpid(owner, nullptr, 0);
    for (int descriptor : {commands[0], answers[0], answers[1]})
        close(descriptor);
    munmap(at, k_bytes);
    return access;
}

std::string outcome(int error) {
    if (error == 0) return "works between two processes of this user";
    if (error == 255) return "could not be tried";
    return std::string("refused: ") + std::strerror(error);
}

constexpr char const* k_change =
    "sysctl kernel.yama.ptrace_scope=0; in a container --cap-add=SYS_PTRACE or a seccomp profile that allows it";

}  // namespace

Finding explain_ptrace_scope(std::string const& value) {
    Finding finding{Health::ok, "kernel.yama.ptrace_scope", value, "", ""};
    if (value.empty()) {
        finding.value = "no Yama in this kernel";
        finding.means = "processes of a user may read each other";
    } else if (value == "0") {
        finding.means = "processes of a user may read each other";
    } else if (value == "1") {
        finding.health = Health::limited;
        finding.means = "a process may read only its descendants, so ranks cannot read each other unless they are root";
        finding.change = "sysctl kernel.yama.ptrace_scope=0 (permanently: a line in /etc/sysctl.d/10-ptrace.conf)";
    } else {
        finding.health = Health::limited;
        finding.means =
            value == "2" ? "only processes with CAP_SYS_PTRACE may read others" : "no process may read others";
        finding.change = value == "2" ? "sysctl kernel.yama.ptrace_scope=0, or run with CAP_SYS_PTRACE"
                                      : "only a reboot resets 3: kernel.yama.ptrace_scope=0 in /etc/sysctl.d";
    }
    return finding;
}

Finding explain_seccomp(std::string const& mode) {
    if (mode == "2")
        return {Health::fact, "seccomp", "this process has a filter (most likely a container's)",
                "it decides which of the system calls below work; each was tried",
                "docker run --security-opt seccomp=PROFILE.json, or seccomp=unconfined"};
    return {Health::ok, "seccomp", mode.empty() ? "not in this kernel" : "no filter", "no system call is filtered", ""};
}

Findings look_at_single_copy() {
    Access const access = try_brothers();
    return {
        {access.read == 0 ? Health::ok : Health::missing, "process_vm_readv", outcome(access.read),
         access.read == 0 ? "ranks of a node read each other's blocks without a copy between"
                          : "blocks inside a node go through shared rings: two copies instead of one",
         access.read == 0 ? "" : k_change},
        {access.write == 0 ? Health::ok : Health::missing, "process_vm_writev", outcome(access.write),
         access.write == 0 ? "in-place exchanges inside a node write straight into the peer's buffer"
                           : "in-place exchanges inside a node go through a shared staging buffer",
         access.write == 0 ? "" : k_change},
        explain_ptrace_scope(first_line("/proc/sys/kernel/yama/ptrace_scope")),
        explain_seccomp(status_field("Seccomp")),
    };
}

}  // namespace sluice::cli
