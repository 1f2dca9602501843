// SPDX-License-Identifier: BSD-3-Clause
/// Memory for blocks of a paged file, each under a lease: up to a limit of its own and what the budget has. Room
/// that is given back is used again for blocks of the same size.
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

/// Whole sectors.
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
    /// `limit` 0: a quarter of what the budget is at the time.
    BlockMemory(Budget& budget, Bytes limit) : budget_(budget), limit_(limit) {}
    /// All rooms are gone, or go now.
    ~BlockMemory() { budget_.remove_resident(held()); }
    BlockMemory(BlockMemory const&) = delete;
    BlockMemory& operator=(BlockMemory const&) = delete;

    /// No room where limit, budget or the allocator have none.
    BlockRoom take(std::uint64_t bytes);
    /// Whatever the limit. Throws Error(out_of_memory) where the allocator has none.
    BlockRoom take_beyond(std::uint64_t bytes);
    void give_back(BlockRoom room);
    /// What is kept to be used again.
    void free_spare() noexcept { spare_free(0); }

    Bytes limit() const;
    /// More is held than may be: the budget has become smaller, or a set was granted beyond it.
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
