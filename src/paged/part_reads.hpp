// SPDX-License-Identifier: BSD-3-Clause
/// Parts of blocks that are read from the file by themselves, for publications: several at a time, in memory of their
/// own, so that they do not wait for blocks, nor blocks for them.
#pragma once

#include <cstdint>
#include <deque>

#include "kernel/disk_file.hpp"
#include "memory/block_memory.hpp"
#include "sluice/fetch.hpp"

namespace sluice::paged::detail {

/// Memory: for at most k_at_once parts that are under way, and about 60 bytes for each that waits.
class PartReads {
  public:
    /// `limit`: bytes; one part is always read.
    PartReads(kernel::DiskFile& disk, Budget& budget, Bytes limit) : disk_(&disk), memory_(budget, limit) {}

    /// From place `at` of the file.
    void add(std::uint64_t at, std::uint64_t bytes, fetch::Store::Brought brought);
    /// Begins what can be begun.
    void start();

    std::uint64_t read() const noexcept { return read_; }
    Bytes held() const noexcept { return memory_.held(); }
    Bytes peak() const noexcept { return memory_.peak(); }

  private:
    // More brings a disk no further, and each waits longer.
    static constexpr std::size_t k_at_once = 16;

    struct Part {
        std::uint64_t at;
        std::uint64_t bytes;
        fetch::Store::Brought brought;
    };
    memory::BlockRoom room_for(std::uint64_t bytes);
    void arrived(Part const& part, std::span<std::byte const> bytes, int error);

    kernel::DiskFile* disk_;
    memory::BlockMemory memory_;
    std::deque<Part> waiting_;
    std::size_t under_way_ = 0;
    std::uint64_t read_ = 0;
};

}  // namespace sluice::paged::detail
