// SPDX-License-Identifier: BSD-3-Clause
/// What the kernel has mapped at an address of this process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernel/files/kept_file.hpp"

namespace sluice::kernel {

/// One line of /proc/self/maps.
struct MappedRange {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    bool readable = false;
    bool writable = false;
    bool shared = false;
    bool of_file = false;
};

/// Looks at the mappings of the process that made it. Does not allocate after its construction. Several threads may use
/// it.
class Mappings {
  public:
    /// `generation` as that of GuardedPages.
    explicit Mappings(std::uint64_t (*generation)() = nullptr) noexcept;

    /// Returns the mapping that holds the address; nothing if there is none.
    std::optional<MappedRange> at(void const* address) const noexcept;

    /// Returns true if pages of the mapping may be locked in memory (mlock), or the process cannot tell. Such a
    /// look reads /proc/self/status, and smaps if the process has locked memory at all.
    bool is_locked(MappedRange const& mapping) const noexcept;

    /// Keeps the file that tells of locked memory open from now on.
    void keep() noexcept;
    /// Closes it.
    void let_go() noexcept;

  private:
    bool process_locks_memory() const noexcept;

    std::uint64_t (*generation_)();
    KeptFile status_;
    /// A generation at which the process had no locked memory, plus 1.
    mutable std::atomic<std::uint64_t> unlocked_at_{0};
};

}  // namespace sluice::kernel
