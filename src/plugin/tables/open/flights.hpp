// SPDX-License-Identifier: BSD-3-Clause
/// The memory that communication keeps busy, as ranges of addresses: a byte that several calls and requests keep busy
/// is counted once. Counted for the rank and for each site.
///
///     | buffer of a send | ......... | the same buffer, sent to another rank | .........
///     \________ one range, told twice: its bytes count once ________/
///
/// A range may have gaps: a datatype touches `bytes` of its `span`. Ranges without gaps count as their union. One with
/// gaps counts with its bytes, unless it is the same as another or lies in what ranges without gaps cover; where two
/// that are not the same mesh, both count. At most k_room different ranges are compared. What comes while they are all
/// in use is counted as if it overlapped nothing, and `alone` says how often that was so.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "plugin/binding/tally.hpp"
#include "record/record.hpp"

namespace sluice::plugin {

struct FlyingRange {
    std::uintptr_t from = 0;
    std::uint64_t span = 0;
    std::uint64_t bytes = 0;  ///< of data, at most `span`

    bool operator==(FlyingRange const&) const = default;
};

class Flights {
  public:
    static constexpr std::size_t k_room = 64;
    /// The place of a range that was not compared.
    static constexpr std::uint32_t k_alone = k_room;
    /// The place of a range that is not counted.
    static constexpr std::uint32_t k_elsewhere = k_room + 1;

    /// Returns the place that `remove` is given.
    std::uint32_t add(std::uint32_t site, FlyingRange const& range) noexcept;
    void remove(std::uint32_t site, FlyingRange const& range, std::uint32_t place) noexcept;
    /// Bytes whose addresses are not known.
    void add_bytes(std::uint32_t site, std::uint64_t bytes) noexcept;
    void remove_bytes(std::uint32_t site, std::uint64_t bytes) noexcept;

    std::uint64_t of_rank() const noexcept { return look_at(of_rank_); }
    std::uint64_t of_site(std::uint32_t site) const noexcept { return look_at(of_sites_[site]); }
    /// The most of the rank since this was last called, by one thread at a time that is not a caller of MPI.
    std::uint64_t take_highest() noexcept { return highest_.exchange(of_rank(), std::memory_order_relaxed); }
    /// Tells that `more` bytes are busy for a moment beside what is in flight.
    void see_highest(std::uint64_t more) noexcept {
        std::uint64_t const now = of_rank() + more;
        if (now > highest_.load(std::memory_order_relaxed)) [[unlikely]]
            highest_.store(now, std::memory_order_relaxed);
    }
    /// Ranges that found no room.
    std::uint64_t alone() const noexcept { return look_at(alone_); }

  private:
    static constexpr std::uint32_t k_all = record::k_no_site;
    struct Entry {
        FlyingRange range;
        std::uint32_t site = 0;
        std::uint32_t times = 0;
    };

    /// What the ranges of a site, or of all, keep busy.
    std::uint64_t measure(std::uint32_t site) const noexcept;
    void measure_again(std::uint32_t site, std::uint64_t rank_before, std::uint64_t site_before) noexcept;

    std::mutex changing_;
    std::array<Entry, k_room> entries_{};
    std::uint64_t used_ = 0;        // a bit for each entry
    std::uint64_t overlapped_ = 0;  // those that overlapped another once
    // Tallies.
    std::uint64_t of_rank_ = 0;
    std::uint64_t alone_ = 0;
    std::atomic<std::uint64_t> highest_{0};
    std::array<std::uint64_t, record::k_sites> of_sites_{};
};

}  // namespace sluice::plugin
