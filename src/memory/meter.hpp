// SPDX-License-Identifier: BSD-3-Clause
/// Counts what one operation allocates: its peak goes into the report, and tests bound it or make it fail.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <vector>

#include "sluice/units.hpp"

namespace sluice::memory {

/// Not thread-safe: an operation belongs to one thread.
class Meter {
  public:
    /// Counts an allocation about to be made; throws std::bad_alloc if a test has ordered that.
    void take(std::size_t bytes) {
        if (allowed_ == 0) throw std::bad_alloc();
        if (allowed_ != k_unlimited) --allowed_;
        held_ += bytes;
        peak_ = std::max(peak_, held_);
    }
    void give(std::size_t bytes) noexcept { held_ -= bytes; }

    Bytes held() const noexcept { return {held_}; }
    Bytes peak() const noexcept { return {peak_}; }
    void reset_peak() noexcept { peak_ = held_; }

    /// For tests: all allocations after the next `n` fail.
    void fail_after(std::uint64_t n) noexcept { allowed_ = n; }
    void never_fail() noexcept { allowed_ = k_unlimited; }

  private:
    static constexpr std::uint64_t k_unlimited = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t held_ = 0;
    std::uint64_t peak_ = 0;
    std::uint64_t allowed_ = k_unlimited;
};

/// A standard allocator that reports to a Meter.
template <typename T>
class MeteredAllocator {
  public:
    using value_type = T;
    explicit MeteredAllocator(Meter& meter) noexcept : meter_(&meter) {}
    template <typename U>
    MeteredAllocator(MeteredAllocator<U> const& other) noexcept : meter_(other.meter()) {}

    T* allocate(std::size_t n) {
        meter_->take(n * sizeof(T));
        try {
            return std::allocator<T>().allocate(n);
        } catch (...) {
            meter_->give(n * sizeof(T));
            throw;
        }
    }
    void deallocate(T* p, std::size_t n) noexcept {
        std::allocator<T>().deallocate(p, n);
        meter_->give(n * sizeof(T));
    }
    Meter* meter() const noexcept { return meter_; }
    template <typename U>
    bool operator==(MeteredAllocator<U> const& other) const noexcept {
        return meter_ == other.meter();
    }

  private:
    Meter* meter_;
};

template <typename T>
using MeteredVector = std::vector<T, MeteredAllocator<T>>;

}  // namespace sluice::memory
