// SPDX-License-Identifier: BSD-3-Clause
/// Reads parts of blocks from the file for publications. Several reads are under way at once, in memory of their own,
/// so that they do not wait for blocks, nor blocks for them.
#pragma once

#include <cstdint>
#include <deque>

#include "kernel/disk_file.hpp"
#include "memory/block_memory.hpp"
#include "sluice/fetch.hpp"

namespace sluice::paged {

/// Takes memory for the parts under way, k_at_once at most, and about 60 bytes for each part that waits.
class PartReads {
  public:
    /// `limit`: bytes; one part is read even if it is larger.
    PartReads(kernel::DiskFile& disk, Budget& budget, Bytes limit) : disk_(&disk), memory_(budget, limit) {}

    /// Adds a read of `bytes` from position `at` of the file.
    void add(std::uint64_t at, std::uint64_t bytes, Store::DataSink brought);
    /// Starts the reads that have room.
    void start();

    bool is_idle() const noexcept { return waiting_.empty() && under_way_ == 0; }
    std::uint64_t read() const noexcept { return read_; }
    Bytes held() const noexcept { return memory_.held(); }
    Bytes peak() const noexcept { return memory_.peak(); }

  private:
    // More reads at once make a disk no faster, and each waits longer.
    static constexpr std::size_t k_at_once = 16;

    struct Part {
        std::uint64_t at;
        std::uint64_t bytes;
        Store::DataSink brought;
    };
    memory::BlockRoom room_for(std::uint64_t bytes);
    void arrived(Part const& part, std::span<std::byte const> bytes, int error);

    kernel::DiskFile* disk_;
    memory::BlockMemory memory_;
    std::deque<Part> waiting_;
    std::size_t under_way_ = 0;
    std::uint64_t read_ = 0;
};

}  // namespace sluice::paged
