// SPDX-License-Identifier: BSD-3-Clause
/// How much of this process's resident memory lies in arrays that the ranks of a node share (sluice/allocate.hpp). The
/// kernel counts a page in each process that maps it; it is memory of the process that owns it.
///
///     resident = private + MPI's shared memory + own + of_peers
///                \______________________________________/ what the process takes of a limit
#pragma once

#include <atomic>
#include <cstdint>

namespace sluice::kernel {

struct SharedPages {
    std::atomic<std::uint64_t> own{0};       ///< bytes of arrays of this process
    std::atomic<std::uint64_t> of_peers{0};  ///< bytes of arrays of peers that are mapped here
};

/// Of this process, because the kernel's figures are.
inline SharedPages& shared_pages() noexcept {
    static constinit SharedPages pages;
    return pages;
}

}  // namespace sluice::kernel
