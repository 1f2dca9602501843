// SPDX-License-Identifier: BSD-3-Clause
/// What is used now of a place that limits memory, read so cheaply that it can be looked at all the time.
#pragma once

#include <cstdint>
#include <string>

#include "budget/memory_limit.hpp"
#include "kernel/kept_file.hpp"

namespace sluice::budget {

/// By kept file descriptors; one look in µs, as measured (docs/decisions/0036):
///
///     control group   limit 0.3 + usage 0.3, and memory.stat 2.5 where usage has moved or the last look at it is old
///     own process     /proc/self/statm 0.4; RLIMIT_DATA and RLIMIT_AS also /proc/self/limits 3, each 16th time
///     machine         /proc/meminfo 2
///
/// Never smaps, which walks all pages. Not thread-safe.
class MemoryUsage {
  public:
    /// M, and what of it is used by anybody.
    struct Reading {
        Bytes limit;
        Bytes used;
    };

    /// `place` as it was found below `root`.
    explicit MemoryUsage(MemoryPlace place, std::string const& root = "");

    MemoryPlace const& place() const noexcept { return place_; }
    /// The limit is read anew each time: it may change. What cannot be read (any more) is as it was.
    Reading read() noexcept;
    /// The same for all processes whose memory has this limit, and another for each such place of the machine; empty
    /// where the limit is a process's own.
    std::string identity() const;

  private:
    void read_group() noexcept;
    void read_process() noexcept;
    void read_machine() noexcept;
    Bytes droppable_cache(Bytes usage) noexcept;

    MemoryPlace place_;
    std::string root_;
    kernel::KeptFile limit_file_;
    kernel::KeptFile usage_file_;
    kernel::KeptFile stat_file_;
    std::uint64_t page_;
    Reading last_;
    Bytes cache_;  // that the kernel can drop, when usage was usage_then_
    Bytes usage_then_;
    unsigned since_stat_ = 0;    // looks
    unsigned since_limits_ = 0;  // looks
};

/// What this process holds alone, without what it shares: by /proc/self/statm. 0 where that cannot be read.
class PrivateMemory {
  public:
    explicit PrivateMemory(std::string const& root = "");
    Bytes read() const noexcept;

  private:
    kernel::KeptFile statm_;
    std::uint64_t page_;
};

}  // namespace sluice::budget
