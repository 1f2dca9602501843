// SPDX-License-Identifier: BSD-3-Clause
/// Which running system, and which space of process numbers in it.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::kernel {

/// Equal in two processes if and only if a process number means the same process in both: they share one boot of one
/// machine and one namespace of process numbers (a container has its own). It tells neither a name nor an address. 0
/// where the kernel does not tell it. Does not allocate.
std::uint64_t this_machine() noexcept;

/// Of that boot identifier and that inode of the namespace; never 0.
std::uint64_t machine_of(std::string_view boot, std::uint64_t process_space) noexcept;

}  // namespace sluice::kernel
