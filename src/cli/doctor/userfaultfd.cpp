// SPDX-License-Identifier: BSD-3-Clause
// Findings on userfaultfd: pages that wait for their data, and notices of changes to a range of addresses.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "cli/doctor/finding.hpp"
#include "kernel/guards/guarded_pages.hpp"
#include "kernel/guards/userfaultfd.hpp"

namespace sluice::cli {

namespace {

using kernel::FaultsOf;
using kernel::Rung;

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
    Feature{kernel::k_feature_move, "MOVE", "received pages go into place without a copy (Linux 6.8 and newer)"},
    Feature{UFFD_FEATURE_THREAD_ID, "THREAD_ID", "which thread waits for a page"},
};

Finding check_feature(Feature const& feature, std::uint64_t offered, FaultsOf whose) {
    bool usable = kernel::can_have_feature(whose, feature.bit);
    int const why = errno;
    if (usable && feature.bit == UFFD_FEATURE_PAGEFAULT_FLAG_WP)
        usable = (kernel::operations_of_a_range(whose, UFFDIO_REGISTER_MODE_WP) >> _UFFDIO_WRITEPROTECT & 1) != 0;
    if (usable && feature.bit == kernel::k_feature_move) usable = kernel::can_move_pages(whose);
    Finding finding{usable ? Health::ok : Health::missing, std::string("userfaultfd ") + feature.name, "works",
                    feature.good_for, ""};
    if (usable) return finding;
    bool const exists = (offered & feature.bit) != 0;
    finding.value =
        exists ? fmt::format("the kernel has it but refuses it: {}", std::strerror(why)) : "not in this kernel";
    finding.change = !exists ? "a newer kernel" : "run with CAP_SYS_PTRACE (in a container --cap-add=SYS_PTRACE)";
    return finding;
}

char const* way_back(Rung rung) {
    switch (rung) {
        case Rung::remap:
            return "whole ranges are moved back (mremap)";
        case Rung::move:
            return "pages are moved back (UFFDIO_MOVE)";
        case Rung::copy:
            return "pages are copied back (UFFDIO_COPY)";
        case Rung::off:
            break;
    }
    return "";
}

/// The median time for 16 MiB that exist: aside and back.
std::optional<std::chrono::microseconds> time_there_and_back(kernel::GuardedPages& guards) {
    constexpr std::size_t k_moved_bytes = std::size_t{16} << 20;
    std::array<std::chrono::microseconds, 11> times{};
    auto* const pages = static_cast<std::byte*>(
        mmap(nullptr, k_moved_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (pages == MAP_FAILED) return std::nullopt;
    std::memset(pages, 1, k_moved_bytes);
    bool all = true;
    for (auto& time : times) {
        auto const begin = std::chrono::steady_clock::now();
        auto const taken = guards.take_aside(pages, k_moved_bytes);
        if (taken) guards.give_back(*taken);
        all = all && taken;
        time = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
    }
    munmap(pages, k_moved_bytes);
    if (!all) return std::nullopt;
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
}

/// What `sluice run --overlap` would use here: it is the plugin's own code that tries it.
Finding check_guards() {
    kernel::GuardedPages guards;
    if (guards.rung() == Rung::off)
        return {Health::missing, "guarded pages", "none", "--overlap changes nothing: receives return with their data",
                guards.why_not()};
    std::string value = way_back(guards.rung());
    if (auto const time = time_there_and_back(guards))
        value += fmt::format("; 16 MiB aside and back take {} us", time->count());
    return {Health::ok, "guarded pages", value,
            "with --overlap a receive returns before its data; the program waits when it touches them", ""};
}

}  // namespace

Findings look_at_userfaultfd() {
    Findings findings;
    std::string const allowed = first_line("/proc/sys/vm/unprivileged_userfaultfd");
    kernel::Descriptor const full = kernel::open_userfaultfd(FaultsOf::every_access);
    int const why = errno;
    kernel::Descriptor const user_only = kernel::open_userfaultfd(FaultsOf::user_mode);
    Finding finding{Health::ok, "userfaultfd", "works, for faults of system calls too",
                    "memory that is still being received waits page by page; ranges can be watched", ""};
    FaultsOf whose = FaultsOf::every_access;
    if (!full.is_open() && user_only.is_open()) {
        whose = FaultsOf::user_mode;
        finding.health = Health::limited;
        finding.value = "only for loads and stores of the program itself";
        finding.means = "ranges can be watched; system calls on guarded pages would fail, so pages are not guarded";
        finding.change = "sysctl vm.unprivileged_userfaultfd=1, or CAP_SYS_PTRACE, or access to /dev/userfaultfd";
    } else if (!full.is_open()) {
        finding.health = Health::missing;
        finding.value = std::string("refused: ") + std::strerror(why);
        finding.means = "nothing is deferred, and registrations are not cached behind the program's back";
        finding.change = why == ENOSYS ? "a kernel with CONFIG_USERFAULTFD"
                                       : "sysctl vm.unprivileged_userfaultfd=1; in a container a seccomp profile that "
                                         "allows userfaultfd";
    }
    findings.push_back(finding);
    findings.push_back(check_guards());
    findings.push_back({Health::fact, "vm.unprivileged_userfaultfd", allowed.empty() ? "not in this kernel" : allowed,
                        allowed == "1" ? "anybody may use userfaultfd"
                                       : "without CAP_SYS_PTRACE only for loads and stores of the program itself",
                        allowed == "1" ? "" : "sysctl vm.unprivileged_userfaultfd=1"});
    if (finding.health == Health::missing) return findings;
    std::uint64_t const offered = kernel::shake_hands(whose == FaultsOf::every_access ? full : user_only, 0);
    for (Feature const& feature : k_features)
        findings.push_back(check_feature(feature, offered, whose));
    return findings;
}

}  // namespace sluice::cli
