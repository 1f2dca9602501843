// SPDX-License-Identifier: BSD-3-Clause
/// A small file of /proc or of a control group that is read often.
///
///     read ── kept, and the number still is our file? ── yes ──> pread
///                                  └── no ──> never ours again; each look opens, reads and closes
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice::kernel {

/// A program may close all descriptors, and open files of its own, which then have their numbers. So a descriptor that
/// is kept is compared with what was opened, by device and inode, before each look (0.1 to 0.4 µs), and before it is
/// closed. What it refers to is fixed when it is opened: /proc/self stays the process that opened it. Does not allocate
/// after its construction. Several threads may read it; one with a table of its own opens the file for each look.
class KeptFile {
  public:
    /// Opens nothing yet.
    explicit KeptFile(std::string path) : path_(std::move(path)) {}
    KeptFile(KeptFile const&) = delete;
    KeptFile& operator=(KeptFile const&) = delete;
    ~KeptFile() { let_go(); }

    /// Keeps the file open from now on (out_of_the_way). Without a descriptor it stays as it is. One thread calls it.
    void keep() noexcept;
    /// Closes the file, unless the program has closed it already. The file can be read as before.
    void let_go() noexcept;

    /// Returns the first bytes of the file, as many as `room` holds; empty if it cannot be read, and errno tells why.
    std::string_view read(std::span<char> room) const noexcept;
    /// Returns the number at the beginning of the file.
    std::optional<std::uint64_t> number() const noexcept;

  private:
    bool is_ours(int file) const noexcept;

    std::string path_;
    mutable std::atomic<int> file_{-1};
    dev_t device_ = 0;  // both are written before file_
    ino_t inode_ = 0;
};

}  // namespace sluice::kernel
