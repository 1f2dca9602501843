// SPDX-License-Identifier: BSD-3-Clause
/// The ranges that are guarded now, so that none is guarded twice: a page has one way back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace sluice::kernel {

/// Has a fixed number of places and does not allocate. Several threads may use it.
class RangeTable {
  public:
    static constexpr std::size_t k_most = 256;
    enum class Entered : std::uint8_t { yes, overlaps, full };

    Entered enter(void const* from, std::size_t bytes) noexcept {
        auto const begin = reinterpret_cast<std::uintptr_t>(from);
        std::lock_guard const lock(mutex_);
        for (std::size_t i = 0; i < used_; ++i)
            if (begin < ranges_[i].end && ranges_[i].begin < begin + bytes) return Entered::overlaps;
        if (used_ == k_most) return Entered::full;
        ranges_[used_++] = {begin, begin + bytes};
        return Entered::yes;
    }

    void leave(void const* from) noexcept {
        auto const begin = reinterpret_cast<std::uintptr_t>(from);
        std::lock_guard const lock(mutex_);
        for (std::size_t i = 0; i < used_; ++i) {
            if (ranges_[i].begin != begin) continue;
            ranges_[i] = ranges_[--used_];
            return;
        }
    }

  private:
    struct Range {
        std::uintptr_t begin;
        std::uintptr_t end;
    };
    std::mutex mutex_;
    std::size_t used_ = 0;
    std::array<Range, k_most> ranges_{};
};

}  // namespace sluice::kernel
