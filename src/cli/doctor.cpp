// `sluice doctor`: tries what the library and the test beds rely on, one line each: ok or missing, and what follows.
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/units.hpp"
#include "cli/command.hpp"
#include "cli/installation.hpp"
#include "cli/options.hpp"
#include "sluice/budget.hpp"

namespace sluice::cli {

namespace {

struct Finding {
    bool ok;
    std::string what;     ///< with numbers
    std::string follows;  ///< what it is good for, or what happens without
};

void print(Finding const& finding) {
    fmt::print("{:<8} {:<48} {}\n", finding.ok ? "ok" : "missing", finding.what, finding.follows);
}

/// Runs `body` in a process of its own; true when it said so.
bool true_in_child(std::function<bool()> const& body) {
    pid_t const child = fork();
    if (child < 0) return false;
    if (child == 0) _exit(body() ? 0 : 1);
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Two brothers, as two ranks of a node are: the second reads what the first wrote.
bool brothers_can_read() {
    constexpr std::size_t bytes = 8192;
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int to_first[2];
    int from_first[2];
    if (at == MAP_FAILED || pipe(to_first) != 0 || pipe(from_first) != 0) return false;
    pid_t const first = fork();
    if (first < 0) return false;
    if (first == 0) {
        std::memset(at, 0x5A, bytes);
        char token = 'w';
        close(to_first[1]);  // else the end of the parent's side is never seen
        bool const told = write(from_first[1], &token, 1) == 1;
        _exit(told && read(to_first[0], &token, 1) >= 0 ? 0 : 1);  // lives until it has been read
    }
    char token = 0;
    bool const written = read(from_first[0], &token, 1) == 1;
    bool const readable = written && true_in_child([&] {
                              std::array<unsigned char, bytes> seen{};
                              iovec const local{seen.data(), seen.size()};
                              iovec const remote{at, bytes};
                              if (process_vm_readv(first, &local, 1, &remote, 1, 0) != static_cast<ssize_t>(bytes))
                                  return false;
                              for (unsigned char byte : seen)
                                  if (byte != 0x5A) return false;
                              return true;
                          });
    close(to_first[1]);
    int status = 0;
    waitpid(first, &status, 0);
    for (int descriptor : {to_first[0], from_first[0], from_first[1]})
        close(descriptor);
    munmap(at, bytes);
    return readable;
}

Finding check_process_read() {
    bool const ok = brothers_can_read();
    return {ok, "process_vm_readv between two processes",
            ok ? "ranks of a node read each other's blocks without a copy between"
               : "blocks inside a node go through shared rings (see kernel.yama.ptrace_scope, seccomp)"};
}

Finding check_shared_memory() {
    struct statvfs shm {};
    bool const there = statvfs("/dev/shm", &shm) == 0;
    Bytes const free{there ? static_cast<std::uint64_t>(shm.f_bavail) * shm.f_frsize : 0};
    bool const ok = free >= 64_MiB;
    return {ok, fmt::format("/dev/shm: {} free", base::format_bytes(free)),
            ok ? "room for the rings of a node and for the MPIs" : "the MPIs and the rings of a node need some 64 MiB"};
}

Finding check_memory_limit() {
    MemoryLimit const memory = detect_memory_limit(Bytes{0});
    return {true, fmt::format("memory limit: {}", base::format_bytes(memory.limit)), "from " + memory.source};
}

std::string memory_group_root() {
    if (std::filesystem::exists("/sys/fs/cgroup/cgroup.controllers")) return "/sys/fs/cgroup";
    if (std::filesystem::exists("/sys/fs/cgroup/memory/memory.limit_in_bytes")) return "/sys/fs/cgroup/memory";
    return {};
}

/// A control group is made and removed again.
Finding check_control_groups() {
    std::string const root = memory_group_root();
    if (root.empty()) return {false, "memory control groups", "bed limited uses RLIMIT_DATA"};
    bool const second = root == "/sys/fs/cgroup";
    std::string const group = root + "/sluice-doctor-" + std::to_string(getpid());
    std::error_code failed;
    bool const made = std::filesystem::create_directory(group, failed);
    std::string const knob = group + (second ? "/memory.max" : "/memory.limit_in_bytes");
    bool const ok = made && std::filesystem::exists(knob);
    if (made) rmdir(group.c_str());
    return {ok, fmt::format("memory control groups (v{}), made by this user", second ? 2 : 1),
            ok ? "bed limited gives each node its own" : "bed limited uses RLIMIT_DATA"};
}

Finding check_namespaces() {
    bool const root = geteuid() == 0;
    bool const ok = root && true_in_child([] { return unshare(CLONE_NEWNET | CLONE_NEWUTS) == 0; });
    return {ok, "network namespaces",
            ok     ? "bed cluster can be set up"
            : root ? "bed cluster is left out"
                   : "bed cluster needs root"};
}

Finding check_program(std::string const& program, std::string const& with, std::string const& without) {
    auto const found = in_path(program);
    return {found.has_value(), found ? found->string() : program, found ? with : without};
}

Finding check_build(MpiBuild const& build) {
    bool const ok = !build.library.empty() && !build.launcher.empty();
    std::string follows = ok ? "launched by " + build.launcher.string() : "";
    if (build.library.empty()) follows += "its library is not beside this command ";
    if (build.launcher.empty()) follows += "its launcher is not in PATH";
    return {ok, "build for " + build.name, follows};
}

}  // namespace

int run_doctor(std::vector<std::string> const& arguments) {
    CLI::App app("Tries what the library and the test beds rely on; each line says ok or missing, and what follows",
                 "doctor");
    if (!parse_options(app, arguments)) return 0;
    print(check_process_read());
    print(check_shared_memory());
    print(check_memory_limit());
    print(check_control_groups());
    print(check_namespaces());
    print(check_program("ip", "bed cluster makes its nodes", "bed cluster is left out (package iproute2)"));
    print(check_program("tc", "bed cluster shapes its wires", "bed cluster is left out (package iproute2)"));
    for (MpiBuild const& build : mpi_builds())
        if (build.name != "mpi" || !build.library.empty()) print(check_build(build));
    return 0;
}

}  // namespace sluice::cli
