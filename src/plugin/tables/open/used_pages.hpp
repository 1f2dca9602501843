// SPDX-License-Identifier: BSD-3-Clause
/// The pages of all large buffers that the program has handed to MPI so far: what an MPI would have pinned that leaves
/// each registered. A page of several buffers counts once.
///
///     | buffer of a send |......| another |            two ranges
///     | buffer of a send |=== a receive ==|            one: it overlaps both
///
/// Pages that the program unmaps stay, for nothing is told of it: a program that maps and unmaps buffers at ever new
/// addresses has fewer pinned. At most k_room ranges are kept; what lies apart from them is then not counted.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace sluice::plugin {

class UsedPages {
  public:
    static constexpr std::size_t k_room = 512;
    static constexpr std::uint64_t k_page = 4096;

    void add(std::uintptr_t from, std::uint64_t bytes) noexcept;
    /// Bytes of pages. Any thread.
    std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

  private:
    struct Range {
        std::uintptr_t begin = 0;
        std::uintptr_t end = 0;
    };
    void join(Range pages) noexcept;

    std::mutex changing_;
    std::array<Range, k_room> ranges_{};  // by begin; they neither overlap nor touch
    std::size_t used_ = 0;
    std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace sluice::plugin
