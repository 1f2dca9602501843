// SPDX-License-Identifier: BSD-3-Clause
/// The deregistration queue (Li et al. 2011, sections 3.2 and 4.1): what one thread writes and the helper reads, in
/// fixed space. Does not allocate, wait or lock.
///
///     | . | . | E | E | E | . | . | . |      a full queue drops the new event and counts it: the helper then looks
///           taken ^           ^ put         through all regions, so nothing stays registered for ever
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "memory/registration/event.hpp"

namespace sluice::memory::registration {

class EventQueue {
  public:
    static constexpr std::size_t k_capacity = 256;

    /// Called by one thread at a time, of which each sees what the one before it wrote. False: the event was dropped.
    bool put(Event const& event) noexcept {
        std::uint64_t const at = put_.load(std::memory_order_relaxed);
        if (at - taken_.load(std::memory_order_acquire) == k_capacity) {
            dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
            return false;
        }
        events_[at % k_capacity] = event;
        put_.store(at + 1, std::memory_order_release);
        return true;
    }

    /// Called by the helper alone.
    std::optional<Event> take() noexcept {
        std::uint64_t const at = taken_.load(std::memory_order_relaxed);
        if (at == put_.load(std::memory_order_acquire)) return std::nullopt;
        Event const event = events_[at % k_capacity];
        taken_.store(at + 1, std::memory_order_release);
        return event;
    }

    /// Any thread.
    bool is_empty() const noexcept {
        return taken_.load(std::memory_order_relaxed) == put_.load(std::memory_order_acquire);
    }
    std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

  private:
    alignas(64) std::atomic<std::uint64_t> put_{
        0};  // apart, so that the threads do not take a cache line from each other
    std::atomic<std::uint64_t> dropped_{0};
    alignas(64) std::atomic<std::uint64_t> taken_{0};
    std::array<Event, k_capacity> events_{};
};

}  // namespace sluice::memory::registration
