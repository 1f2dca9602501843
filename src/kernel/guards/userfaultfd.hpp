// SPDX-License-Identifier: BSD-3-Clause
/// The kernel's userfaultfd: opening it, the handshake, and what a registered range allows.
#pragma once

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#include <cstddef>
#include <cstdint>

#include "kernel/files/descriptor.hpp"

namespace sluice::kernel {

// These are newer than the headers of Debian 12; they are permanent parts of the kernel's interface.
inline constexpr std::uint64_t k_feature_move = 1 << 16;
inline constexpr int k_move_number = 0x05;
struct MoveOfPages {
    std::uint64_t to;
    std::uint64_t from;
    std::uint64_t bytes;
    std::uint64_t mode;
    std::int64_t moved;  ///< bytes, or an errno below 0
};
inline constexpr std::uint64_t k_move_over_holes = 2;  ///< of MoveOfPages::mode
inline constexpr unsigned long k_move_ioctl = _IOWR(UFFDIO, k_move_number, MoveOfPages);

enum class FaultsOf {
    every_access,  ///< also those of system calls; needs a privilege
    user_mode,     ///< a system call on a page that is missing fails with EFAULT
};

/// Returns a descriptor that was not shaken hands with; without one errno tells why.
Descriptor open_userfaultfd(FaultsOf whose) noexcept;

/// Makes the handshake, which a descriptor allows once, with those features. Returns all features of the kernel, or 0
/// and errno.
std::uint64_t shake_hands(Descriptor const& descriptor, std::uint64_t features) noexcept;

/// Returns true if a feature can be used and is not only known: it is tried on a descriptor of its own.
bool can_have_feature(FaultsOf whose, std::uint64_t feature) noexcept;

/// Returns the operations that a registered range of anonymous memory allows, as a mask of 1 << number; 0 if it cannot
/// be registered.
std::uint64_t operations_of_a_range(FaultsOf whose, std::uint64_t mode) noexcept;

/// Returns true if received pages can go into place without a copy.
bool can_move_pages(FaultsOf whose) noexcept;

}  // namespace sluice::kernel
