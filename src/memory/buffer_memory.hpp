// SPDX-License-Identifier: BSD-3-Clause
/// Memory for the data of messages: freed blocks are kept for the next ones, as long as the budget has room for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sluice/budget.hpp"

namespace sluice::memory {

class BufferPool;

/// Blocks up to 64 KiB are parts of chunks of 256 KiB, of one size class each (16, 32, … 128, then four a doubling);
/// larger ones are mappings of their own. What it keeps is given back to the kernel for good, oldest first, when it is
/// more than the budget's spare(), or when nobody has needed it for a second. What it holds of the kernel, in use or
/// kept, is the budget's resident(). Belongs to one thread, but that blocks may be freed by any; what was freed is used
/// again, or given back, from the next call on. Blocks may outlive it, and are then given back to the kernel as they
/// are freed.
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

    /// At least 16-byte aligned; not zeroed. Null where there is no memory.
    Block allocate(std::uint64_t bytes) noexcept;
    /// Gives back what is too much to be kept. To be called after each look at the memory that is free.
    void settle() noexcept;

    /// Of the kernel, in use or kept; and what of that is kept and could be given back now.
    Bytes resident() const noexcept;
    Bytes kept() const noexcept;

    /// For tests: after `n` more allocations the next `failures` fail.
    void fail_after(std::uint64_t n, std::uint64_t failures) noexcept;

  private:
    BufferPool* pool_;  // dies with its last block
    std::uint64_t allowed_ = 0;
    std::uint64_t failures_ = 0;
};

}  // namespace sluice::memory
