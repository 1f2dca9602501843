// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/machine.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "base/hash.hpp"
#include "kernel/files/read_text.hpp"

namespace sluice::kernel {

std::uint64_t machine_of(std::string_view boot, std::uint64_t process_space) noexcept {
    return std::max<std::uint64_t>(base::Fnv1a().add(boot).add(process_space).value(), 1);
}

std::uint64_t this_machine() noexcept {
    std::array<char, 64> room;
    std::string_view const boot = read_text("/proc/sys/kernel/random/boot_id", room);
    struct stat space {};
    if (boot.empty() || stat("/proc/self/ns/pid", &space) != 0) return 0;
    return machine_of(boot, space.st_ino);
}

}  // namespace sluice::kernel
