// SPDX-License-Identifier: BSD-3-Clause
// Findings on userfaultfd: pages that wait for their data, and notices of changes to a range of addresses.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "cli/doctor/finding.hpp"

namespace sluice::cli {

namespace {

// This constant is newer than the headers of Debian 12; it is a permanent part of the kernel's interface.
constexpr std::uint64_t k_feature_move = 1 << 16;
constexpr int k_user_mode_only = 1;
constexpr int k_move_number = 0x05;

struct Feature {
    std::uint64_t bit;
    char const* name;
    char const* good_for;
};
constexpr std::array k_features{
    Feature{UFFD_FEATURE_EVENT_UNMAP, "EVENT_UNMAP", "a registration that is cached dies when its pages are unmapped"},
    Feature{UFFD_FEATURE_EVENT_REMAP, "EVENT_REMAP", "the same when they are moved (mremap)"},
    Feature{UFFD_FEATURE_EVENT_REMOVE, "EVENT_REMOVE", "the same when they are dropped (madvise)"},
    Feature{UFFD_FEATURE_EVENT_FORK, "EVENT_FORK", "guards in the child of a fork; needs CAP_SYS_PTRACE"},
    Feature{UFFD_FEATURE_PAGEFAULT_FLAG_WP, "write-protect", "sent buffers that are guarded until their data has left"},
    Feature{k_feature_move, "MOVE", "received pages go into place without a copy (Linux 6.8 and newer)"},
    Feature{UFFD_FEATURE_THREAD_ID, "THREAD_ID", "which thread waits for a page"},
};

class Descriptor {
  public:
    explicit Descriptor(int flags)
        : number_(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | flags))) {}
    Descriptor(Descriptor const&) = delete;
    Descriptor& operator=(Descriptor const&) = delete;
    ~Descriptor() {
        if (number_ >= 0) close(number_);
    }
    int number() const { return number_; }

  private:
    int number_;
};

/// Makes the handshake with those features; returns the features that the kernel offers, or 0 and errno.
std::uint64_t shake_hands(int descriptor, std::uint64_t features) {
    uffdio_api api{};
    api.api = UFFD_API;
    api.features = features;
    return ioctl(descriptor, UFFDIO_API, &api) == 0 ? api.features : 0;
}

/// Returns true if a feature can be used and is not only known: each is tried on a descriptor of its own.
bool can_have(std::uint64_t feature, int flags) {
    Descriptor const descriptor(flags);
    return descriptor.number() >= 0 && (shake_hands(descriptor.number(), feature) & feature) != 0;
}

/// Returns the operations that a registered range of anonymous memory allows, as a mask of 1 << number; 0 if it cannot
/// be registered.
std::uint64_t operations_of_a_range(int flags, std::uint64_t mode) {
    Descriptor const descriptor(flags);
    if (descriptor.number() < 0 || shake_hands(descriptor.number(), 0) == 0) return 0;
    constexpr std::size_t bytes = 65536;
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return 0;
    uffdio_register range{};
    range.range = {reinterpret_cast<std::uint64_t>(at), bytes};
    range.mode = mode;
    bool const registered = ioctl(descriptor.number(), UFFDIO_REGISTER, &range) == 0;
    munmap(at, bytes);
    return registered ? range.ioctls : 0;
}

Finding check_feature(Feature const& feature, std::uint64_t offered, int flags) {
    bool usable = can_have(feature.bit, flags);
    int const why = errno;
    if (usable && feature.bit == UFFD_FEATURE_PAGEFAULT_FLAG_WP)
        usable = (operations_of_a_range(flags, UFFDIO_REGISTER_MODE_WP) >> _UFFDIO_WRITEPROTECT & 1) != 0;
    if (usable && feature.bit == k_feature_move)
        usable = (operations_of_a_range(flags, UFFDIO_REGISTER_MODE_MISSING) >> k_move_number & 1) != 0;
    Finding finding{usable ? Health::ok : Health::missing, std::string("userfaultfd ") + feature.name, "works",
                    feature.good_for, ""};
    if (usable) return finding;
    bool const exists = (offered & feature.bit) != 0;
    finding.value =
        exists ? fmt::format("the kernel has it but refuses it: {}", std::strerror(why)) : "not in this kernel";
    finding.change = !exists ? "a newer kernel" : "run with CAP_SYS_PTRACE (in a container --cap-add=SYS_PTRACE)";
    return finding;
}

}  // namespace

Findings look_at_userfaultfd() {
    Findings findings;
    std::string const allowed = first_line("/proc/sys/vm/unprivileged_userfaultfd");
    Descriptor const full(0);
    int const why = errno;
    Descriptor const user_only(k_user_mode_only);
    Finding finding{Health::ok, "userfaultfd", "works, for faults of system calls too",
                    "memory that is still being received waits page by page; ranges can be watched", ""};
    int flags = 0;
    if (full.number() < 0 && user_only.number() >= 0) {
        flags = k_user_mode_only;
        finding.health = Health::limited;
        finding.value = "only for loads and stores of the program itself";
        finding.means = "ranges can be watched; system calls on guarded pages would fail, so pages are not guarded";
        finding.change = "sysctl vm.unprivileged_userfaultfd=1, or CAP_SYS_PTRACE, or access to /dev/userfaultfd";
    } else if (full.number() < 0) {
        finding.health = Health::missing;
        finding.value = std::string("refused: ") + std::strerror(why);
        finding.means = "nothing is deferred, and registrations are not cached behind the program's back";
        finding.change = why == ENOSYS ? "a kernel with CONFIG_USERFAULTFD"
                                       : "sysctl vm.unprivileged_userfaultfd=1; in a container a seccomp profile that "
                                         "allows userfaultfd";
    }
    findings.push_back(finding);
    findings.push_back({Health::fact, "vm.unprivileged_userfaultfd", allowed.empty() ? "not in this kernel" : allowed,
                        allowed == "1" ? "anybody may use userfaultfd"
                                       : "without CAP_SYS_PTRACE only for loads and stores of the program itself",
                        allowed == "1" ? "" : "sysctl vm.unprivileged_userfaultfd=1"});
    if (finding.health == Health::missing) return findings;
    std::uint64_t const offered = shake_hands(flags == 0 ? full.number() : user_only.number(), 0);
    for (Feature const& feature : k_features)
        findings.push_back(check_feature(feature, offered, flags));
    return findings;
}

}  // namespace sluice::cli
