// SPDX-License-Identifier: BSD-3-Clause
/// A file without a name that belongs to one rank: whole sectors are read and written while the rank computes. Nothing
/// of it is left behind however the rank ends.
///
///     read, write ──> waiting ──> in the kernel (k_depth at most) ──> finished ──> done(error), from poll
///
/// By the kernel's asynchronous input and output, past its page cache: what is in memory is what the callers hold, and
/// no thread is needed. Where a file system or the kernel offers less, the work is done at once: past the cache, or
/// through it, and the pages of the cache are given back.
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

/// Belongs to one thread. Memory: about 6 KiB, and 80 bytes for each operation that waits.
class DiskFile {
  public:
    static constexpr std::uint64_t k_sector = 4096;  // of places, lengths and addresses
    static constexpr std::size_t k_depth = 32;
    enum class Way : std::uint8_t { asynchronous, direct, cached };
    /// `error`: 0, or an errno.
    using Done = std::function<void(int error)>;

    /// Space for `size` bytes is reserved. Throws Error with the numbers where there is none, or no file can be made.
    /// `best`: tests ask for less.
    DiskFile(std::string const& folder, Bytes size, Way best = Way::asynchronous);
    /// Waits for what is in the kernel, and calls nobody.
    ~DiskFile();
    DiskFile(DiskFile const&) = delete;
    DiskFile& operator=(DiskFile const&) = delete;

    /// The memory must stay until `done` is called, by poll.
    void read(std::uint64_t at, std::span<std::byte> into, Done done);
    void write(std::uint64_t at, std::span<std::byte> from, Done done);
    /// Calls those whose work is done; true when there was one.
    bool poll();
    /// Sleeps until an operation in the kernel ends, at most for a moment: who yields a busy core in a loop instead
    /// gets it back late.
    void wait_a_moment() noexcept;
    /// Operations whose `done` has not been called.
    std::size_t under_way() const noexcept { return waiting_.size() + in_kernel_ + finished_.size(); }

    Way way() const noexcept { return way_; }
    /// False where the folder itself lies in memory (tmpfs), so that nothing is saved.
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
    std::array<Operation, k_depth> operations_;  // of the same slots
    std::vector<std::size_t> free_slots_;
    std::size_t in_kernel_ = 0;
    std::deque<Operation> waiting_;
    std::deque<Finished> finished_;
    std::deque<std::pair<std::uint64_t, std::uint64_t>> written_;  // through the cache, and perhaps still in it
    std::uint64_t allowed_ = 0;
    std::uint64_t failures_ = 0;
    int failure_ = 0;
};

}  // namespace sluice::kernel
