// SPDX-License-Identifier: BSD-3-Clause
/// Memory for the data of messages. Freed blocks are kept for later ones as long as the budget has room for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sluice/budget.hpp"

namespace sluice::memory {

class BufferPool;

/// Blocks of up to 64 KiB are parts of chunks of 256 KiB, each with one size class (16, 32, … 128 bytes, then four
/// classes for each doubling); larger blocks have mappings of their own. Kept memory goes back to the kernel, oldest
/// first, when it exceeds the budget's spare() or has not been needed for a second. The bytes mapped from the kernel,
/// in use or kept, are the budget's resident(). One thread owns it, but any thread may free blocks: they are reused or
/// given back at the owner's next call. Blocks may outlive it, and then go back to the kernel as they are freed.
class BufferMemory {
  public:
    struct Free {
        void operator()(std::byte* block) const noexcept;
    };
    using Block = std::unique_ptr<std::byte, Free>;

    /// Throws std::bad_alloc.
    explicit BufferMemory(Budget const& budget);
    ~BufferMemory();
    BufferMemory(BufferMemory const&) = delete;
    BufferMemory& operator=(BufferMemory const&) = delete;

    /// Returns a block that is aligned to at least 16 bytes and not zeroed; null if there is no memory.
    Block allocate(std::uint64_t bytes) noexcept;
    /// Gives back what exceeds the budget's room for kept memory. Call it after each look at the memory that is free.
    void settle() noexcept;

    /// resident(): bytes mapped from the kernel, in use or kept. kept(): the kept part, which could be unmapped now.
    Bytes resident() const noexcept;
    Bytes kept() const noexcept;

    /// For tests: after `n` more allocations the next `failures` fail.
    void fail_after(std::uint64_t n, std::uint64_t failures) noexcept;

  private:
    BufferPool* pool_;  // deletes itself with its last block
    std::uint64_t allowed_ = 0;
    std::uint64_t failures_ = 0;
};

}  // namespace sluice::memory
