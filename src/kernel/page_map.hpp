// SPDX-License-Identifier: BSD-3-Clause
/// Which pages of this process are in memory, from /proc/self/pagemap.
#pragma once

#include <cstdint>
#include <optional>

#include "kernel/files/descriptor.hpp"

namespace sluice::kernel {

/// Holds a descriptor, so it is for one look. Does not allocate.
class PageMap {
  public:
    PageMap();

    /// Bytes of pages that this process has mapped.
    struct Resident {
        std::uint64_t anonymous = 0;  ///< of no file, or written since they were mapped privately from one
        std::uint64_t of_files = 0;   ///< of files and of shared memory
        std::uint64_t swapped = 0;    ///< not in memory: the kernel has written them to a swap device
    };
    /// The pages that [from, from + bytes) touches. Unlike mincore, a page of a file counts only if this process maps
    /// it, and not if it is merely in the cache. Costs 1 µs and 20 ns a page. Nothing if the kernel does not
    /// tell.
    std::optional<Resident> resident(std::uintptr_t from, std::uint64_t bytes) const noexcept;

    /// Pages one after the other that are alike: they have content, in memory or swapped out, or they have none.
    struct Run {
        std::uint64_t bytes = 0;
        bool has_content = false;
    };
    /// The first run of whole pages at `from`, of at most `most` bytes and 256 pages. What the kernel does not tell
    /// counts as content.
    Run first_run(std::uintptr_t from, std::uint64_t most) const noexcept;

  private:
    Descriptor file_;
};

}  // namespace sluice::kernel
