// SPDX-License-Identifier: BSD-3-Clause
/// Reads how much of a memory limit is in use, cheaply enough to do it all the time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "budget/memory_limit.hpp"
#include "kernel/files/kept_file.hpp"
#include "kernel/files/read_text.hpp"

namespace sluice::budget {

/// What a process does with the files that its looks read.
enum class Files {
    kept,    ///< they stay open: a look takes 2 µs, and the process has a descriptor for each of them
    opened,  ///< each look opens what it reads, 2 to 5 µs more for each file; nothing stays open
};

/// The files that the looks of one process read, one for each path, however many places are read from it.
class UsageFiles {
  public:
    explicit UsageFiles(Files files) noexcept : files_(files) {}
    std::shared_ptr<kernel::KeptFile const> at(std::string const& path);

  private:
    Files files_;
    std::map<std::string, std::shared_ptr<kernel::KeptFile const>> at_;
};

/// The cost of one look in µs if files are kept, as measured (docs/decisions/0036):
///
///     control group   limit 0.3 + usage 0.3, and memory.stat 2.5 if usage has moved or its last reading is old
///     own process     /proc/self/statm 0.4; RLIMIT_DATA and RLIMIT_AS also /proc/self/limits 3, every 16th time
///     machine         /proc/meminfo 2
///
/// It never reads smaps, because the kernel walks all pages for it. Not thread-safe.
class MemoryUsage {
  public:
    /// M, and the part of it that all processes together use.
    struct Reading {
        Bytes limit;
        Bytes used;
    };

    /// `place` must have been found below `root`.
    MemoryUsage(MemoryPlace place, UsageFiles& files, std::string const& root = "");

    MemoryPlace const& place() const noexcept { return place_; }
    /// Reads the usage, and the limit again, because the limit may change. A figure that cannot be read keeps its last
    /// value.
    Reading read() noexcept;
    /// Returns a name that is the same for all processes whose memory has this limit and differs between the limits of
    /// a machine; empty if the limit counts this process alone.
    std::string identity() const;

  private:
    void read_group() noexcept;
    void read_process() noexcept;
    void read_machine() noexcept;
    Bytes droppable_cache(Bytes usage) noexcept;

    MemoryPlace place_;
    std::string root_;
    std::shared_ptr<kernel::KeptFile const> limit_file_;  // null if the limit cannot change
    std::shared_ptr<kernel::KeptFile const> usage_file_;
    std::shared_ptr<kernel::KeptFile const> stat_file_;  // null if the place is no group
    std::uint64_t page_;
    Reading last_;
    Bytes cache_;  // what the kernel could drop when usage was usage_then_
    Bytes usage_then_;
    unsigned since_stat_ = 0;    // looks since memory.stat was read
    unsigned since_limits_ = 0;  // looks since the limits were read
    /// For one text of the kernel: the stack of a program's thread may be a small one.
    std::unique_ptr<kernel::KernelText> room_ = std::make_unique<kernel::KernelText>();
};

/// Reads from /proc/self/statm how much memory only this process holds, its arrays that peers may map among it; 0 if
/// that cannot be read.
class PrivateMemory {
  public:
    PrivateMemory();
    PrivateMemory(UsageFiles& files, std::string const& root);
    Bytes read() const noexcept;

  private:
    std::shared_ptr<kernel::KeptFile const> statm_;
    std::uint64_t page_;
};

}  // namespace sluice::budget
