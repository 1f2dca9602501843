// SPDX-License-Identifier: BSD-3-Clause
// The requirements of the test beds: each object is made, inspected and removed again.
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/doctor/finding.hpp"
#include "cli/support/installation.hpp"
#include "cli/support/launch.hpp"

namespace sluice::cli {

namespace {

bool is_root() {
    return geteuid() == 0;
}

std::string memory_group_root() {
    if (std::filesystem::exists("/sys/fs/cgroup/cgroup.controllers")) return "/sys/fs/cgroup";
    if (std::filesystem::exists("/sys/fs/cgroup/memory/memory.limit_in_bytes")) return "/sys/fs/cgroup/memory";
    return {};
}

Finding check_control_groups() {
    constexpr char const* without = "bed limited sets RLIMIT_DATA instead, which binds each process by itself";
    std::string const root = memory_group_root();
    if (root.empty())
        return {Health::missing, "memory control groups", "no hierarchy is mounted", without,
                "mount -t cgroup2 none /sys/fs/cgroup"};
    bool const second = root == "/sys/fs/cgroup";
    std::string const group = root + "/sluice-doctor-" + std::to_string(getpid());
    std::error_code failed;
    bool const made = std::filesystem::create_directory(group, failed);
    bool const ok = made && std::filesystem::exists(group + (second ? "/memory.max" : "/memory.limit_in_bytes"));
    if (made) rmdir(group.c_str());
    Finding finding{ok ? Health::ok : Health::limited, fmt::format("memory control groups (v{})", second ? 2 : 1),
                    ok ? "one was made and removed" : "", ok ? "bed limited gives each node its own" : without, ""};
    if (!made) {
        finding.value = "this user cannot make one: " + failed.message();
        finding.change = "run as root, or systemd-run --user --scope -p Delegate=memory";
    } else if (!ok) {
        finding.value = "the memory controller is not delegated";
        finding.change = "echo +memory >/sys/fs/cgroup/cgroup.subtree_control";
    }
    return finding;
}

Finding check_namespaces() {
    bool const ok = true_in_child([] { return unshare(CLONE_NEWNET | CLONE_NEWUTS) == 0; });
    return {
        ok ? Health::ok : Health::missing, "network namespaces",
        ok ? "one was made" : (is_root() ? "refused, though this is root" : "refused: this is not root"),
        ok ? "bed cluster makes its nodes of them" : "bed cluster cannot be used",
        ok ? "" : (is_root() ? "docker run --privileged, or --cap-add=SYS_ADMIN --cap-add=NET_ADMIN" : "run as root")};
}

Finding check_shaping() {
    constexpr char const* what = "shaped wires (tc tbf)";
    constexpr char const* without = "bed cluster cannot be used";
    if (!in_path("ip") || !in_path("tc"))
        return {Health::missing, what, "ip or tc is not in PATH", without, "apt-get install iproute2"};
    // This uses a network namespace of its own, so the machine's interfaces are not touched.
    bool const ok = true_in_child([] {
        if (unshare(CLONE_NEWNET) != 0) return false;
        return launch(
                   {"sh", "-c",
                    "ip link add wire0 type veth peer name wire1 && tc qdisc add dev wire0 root tbf rate 1gbit burst "
                    "256kb latency 50ms && tc qdisc show dev wire0 | grep -q tbf"},
                   {}, 20, [](std::string const&) {})
                   .code == 0;
    });
    return {ok ? Health::ok : Health::missing, what, ok ? "a pair of 1 Gbit/s was made" : "veth or tbf was refused",
            ok ? "bed cluster has wires of any rate" : without,
            ok ? "" : (is_root() ? "modprobe veth sch_tbf, or a kernel that has them" : "run as root")};
}

/// The programs of the system's folders are often not in a user's PATH.
std::string system_program(std::string const& name) {
    if (auto const found = in_path(name)) return found->string();
    for (char const* const folder : {"/usr/sbin/", "/sbin/"})
        if (access((folder + name).c_str(), X_OK) == 0) return folder + name;
    return name;
}

/// A swap file of 1 MiB is made, used and removed.
Finding check_swap() {
    constexpr char const* what = "swap files";
    constexpr char const* without = "bed limited runs without swap: a job that does not fit is killed";
    if (!is_root()) return {Health::missing, what, "this is not root", without, "run as root"};
    std::string path = "/var/tmp/sluice-doctor-XXXXXX";
    int const file = mkstemp(path.data());
    if (file < 0) return {Health::missing, what, std::strerror(errno), without, "make /var/tmp writable"};
    std::array<char, 65536> zeros{};
    bool written = fchmod(file, 0600) == 0;
    for (int i = 0; i < 16 && written; ++i)
        written = write(file, zeros.data(), zeros.size()) == static_cast<ssize_t>(zeros.size());
    close(file);
    bool const made = written && launch({system_program("mkswap"), path}, {}, 20, [](std::string const&) {}).code == 0;
    bool const used = made && swapon(path.c_str(), 0) == 0;
    int const why = errno;
    if (used) swapoff(path.c_str());
    unlink(path.c_str());
    return {used ? Health::ok : Health::missing, what,
            used   ? "one of 1 MiB was used and removed"
            : made ? std::string("swapon: ") + std::strerror(why)
                   : "mkswap failed",
            used ? "bed limited can show what paging costs" : without,
            used ? "" : "docker run --privileged; /var/tmp on a file system that holds swap files (ext4, xfs)"};
}

}  // namespace

Findings look_at_beds() {
    return {check_control_groups(), check_swap(), check_namespaces(), check_shaping()};
}

}  // namespace sluice::cli
