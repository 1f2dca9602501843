// SPDX-License-Identifier: BSD-3-Clause
/// Counters stand next to the code they count and appear by themselves in every report.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::base {

/// One named number. Written by one thread, read by any.
class Counter {
  public:
    explicit Counter(std::string name) : name_(std::move(name)) {}
    void add(std::uint64_t n = 1) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
    std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }
    std::string const& name() const noexcept { return name_; }

  private:
    std::string name_;
    std::atomic<std::uint64_t> value_{0};
};

/// The counters of one Context. A part of the engine keeps a reference to the ones it counts with.
class Counters {
  public:
    /// Returns the counter of that name, which is made at first use. The reference stays valid as long as this object.
    Counter& named(std::string_view name);
    std::vector<std::pair<std::string, std::uint64_t>> values() const;

  private:
    std::deque<Counter> counters_;
};

}  // namespace sluice::base
