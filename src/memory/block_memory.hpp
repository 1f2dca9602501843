// SPDX-License-Identifier: BSD-3-Clause
/// Memory for the blocks of a paged file, each under a lease, within a limit of its own and the budget's room. Room
/// that is given back is reused for blocks of the same size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sluice/budget.hpp"

namespace sluice::memory {

/// Room for one block, a multiple of whole sectors.
class BlockRoom {
  public:
    BlockRoom() = default;
    std::span<std::byte> bytes() const noexcept { return {memory_.get(), bytes_}; }
    explicit operator bool() const noexcept { return memory_ != nullptr; }

  private:
    friend class BlockMemory;
    struct Free {
        void operator()(std::byte* bytes) const noexcept { std::free(bytes); }
    };
    std::unique_ptr<std::byte, Free> memory_;
    std::uint64_t bytes_ = 0;
    Lease lease_;
};

class BlockMemory {
  public:
    /// `limit`: bytes; 0 stands for a quarter of the budget's current limit.
    BlockMemory(Budget& budget, Bytes limit) : budget_(budget), limit_(limit) {}
    /// All rooms must have been given back.
    ~BlockMemory() { budget_.remove_resident(held()); }
    BlockMemory(BlockMemory const&) = delete;
    BlockMemory& operator=(BlockMemory const&) = delete;

    /// Returns an empty room if the limit, the budget or the allocator has none.
    BlockRoom take(std::uint64_t bytes);
    /// Takes room beyond the limit. Throws Error(out_of_memory) if the allocation fails.
    BlockRoom take_beyond(std::uint64_t bytes);
    void give_back(BlockRoom room);
    /// Gives the rooms kept for reuse back to the allocator.
    void free_spare() noexcept { spare_free(0); }

    Bytes limit() const;
    /// Whether more is held than allowed: the budget has shrunk, or take_beyond() was called.
    bool is_over() const;
    Bytes held() const noexcept { return Bytes{held_}; }
    Bytes peak() const noexcept { return Bytes{peak_}; }

  private:
    BlockRoom made(std::uint64_t bytes, Lease lease);
    BlockRoom spare_of(std::uint64_t bytes);
    void spare_free(std::size_t keep) noexcept;

    Budget budget_;
    Bytes limit_;
    std::vector<BlockRoom> spare_;
    std::uint64_t held_ = 0;
    std::uint64_t peak_ = 0;
};

}  // namespace sluice::memory
