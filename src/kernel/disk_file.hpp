// SPDX-License-Identifier: BSD-3-Clause
/// A file without a name that belongs to one rank: whole sectors are read and written while the rank computes. Nothing
/// of it remains, however the rank ends.
///
///     read, write ──> waiting ──> in the kernel (k_depth at most) ──> finished ──> done(error), from poll
///
/// It uses the kernel's asynchronous input and output and bypasses the page cache, so that only the callers' buffers
/// are in memory and no thread is needed. If the file system or the kernel offers less, operations are synchronous:
/// they bypass the cache, or go through it and drop its pages afterwards.
#pragma once

#include <linux/aio_abi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sluice/units.hpp"

namespace sluice::kernel {

/// One thread owns it. Takes about 6 KiB, and 80 bytes for each operation that waits.
class DiskFile {
  public:
    static constexpr std::uint64_t k_sector = 4096;  // places, lengths and addresses are multiples of it
    static constexpr std::size_t k_depth = 32;
    enum class Way : std::uint8_t { asynchronous, direct, cached };
    /// `error` is 0 or an errno.
    using Done = std::function<void(int error)>;

    /// Reserves space for `size` bytes. Throws Error with the numbers if there is too little, or if no file can be
    /// made. Tests ask for a lesser way in `best`.
    DiskFile(std::string const& folder, Bytes size, Way best = Way::asynchronous);
    /// Waits for the operations in the kernel, without calling their `done`.
    ~DiskFile();
    DiskFile(DiskFile const&) = delete;
    DiskFile& operator=(DiskFile const&) = delete;

    /// The memory must stay valid until poll() calls `done`.
    void read(std::uint64_t at, std::span<std::byte> into, Done done);
    void write(std::uint64_t at, std::span<std::byte> from, Done done);
    /// Calls `done` for operations that have ended; returns true if there was one.
    bool poll();
    /// Sleeps until an operation in the kernel ends, at most for a moment. A rank that yielded a busy core in a loop
    /// instead would get it back late.
    void wait_a_moment() noexcept;
    /// The number of operations whose `done` has not been called.
    std::size_t under_way() const noexcept { return waiting_.size() + in_kernel_ + finished_.size(); }

    Way way() const noexcept { return way_; }
    /// False if the folder is in memory (tmpfs), so that the file saves no memory.
    bool is_on_disk() const noexcept { return on_disk_; }

    /// For tests: after `n` more operations the next `failures` end with `error`.
    void fail_after(std::uint64_t n, std::uint64_t failures, int error) noexcept;

  private:
    struct Operation {
        bool writes = false;
        std::uint64_t at = 0;
        std::span<std::byte> memory;
        Done done;
    };
    struct Finished {
        Done done;
        int error;
    };

    void open_in(std::string const& folder);
    void reserve(std::string const& folder);
    void start(Operation operation);
    void submit_waiting();
    bool submit(std::size_t slot);
    enum class Wait : std::uint8_t { no, moment, until_one_ends };
    void collect(Wait wait);
    void ended(std::size_t slot, std::int64_t result);
    void become_cached() noexcept;
    int transfer(Operation const& operation, std::uint64_t already);
    void give_cache_back(Operation const& operation);
    int failure_of_test() noexcept;

    Bytes size_;
    Way way_;
    bool on_disk_ = true;
    int file_ = -1;
    aio_context_t kernel_ = 0;
    std::array<iocb, k_depth> blocks_{};
    std::array<Operation, k_depth> operations_;  // indexed by the same slots
    std::vector<std::size_t> free_slots_;
    std::size_t in_kernel_ = 0;
    std::deque<Operation> waiting_;
    std::deque<Finished> finished_;
    std::deque<std::pair<std::uint64_t, std::uint64_t>> written_;  // written through the cache, and perhaps still in it
    std::uint64_t allowed_ = 0;
    std::uint64_t failures_ = 0;
    int failure_ = 0;
};

}  // namespace sluice::kernel
