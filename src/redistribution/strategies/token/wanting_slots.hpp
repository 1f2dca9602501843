// SPDX-License-Identifier: BSD-3-Clause
/// How many slots of a chain pull still want a block that is in no lane, by the lane in which it would be collected.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/meter.hpp"

namespace sluice::redistribution {

/// The slots of one state. Only those whose lane has room are worth a search.
class WantingSlots {
  public:
    /// Takes all memory: 9 bytes a lane.
    WantingSlots(std::size_t lanes, memory::Meter& meter)
        : wanting_(lanes, 0, memory::MeteredAllocator<std::uint64_t>(meter)),
          is_full_(lanes, 0, memory::MeteredAllocator<char>(meter)) {}

    void clear() noexcept {
        all_ = within_reach_ = 0;
        for (std::uint64_t& slots : wanting_)
            slots = 0;
        for (char& lane : is_full_)
            lane = 0;
    }
    void add(std::size_t lane) noexcept {
        ++wanting_[lane];
        ++all_;
        if (is_full_[lane] == 0) ++within_reach_;
    }
    void remove(std::size_t lane) noexcept {
        --wanting_[lane];
        --all_;
        if (is_full_[lane] == 0) --within_reach_;
    }
    void set_full(std::size_t lane, bool full) noexcept {
        if ((is_full_[lane] != 0) == full) return;
        is_full_[lane] = full ? 1 : 0;
        if (full)
            within_reach_ -= wanting_[lane];
        else
            within_reach_ += wanting_[lane];
    }

    std::uint64_t all() const noexcept { return all_; }
    /// Those whose lane is not full.
    std::uint64_t within_reach() const noexcept { return within_reach_; }

  private:
    std::uint64_t all_ = 0;
    std::uint64_t within_reach_ = 0;
    memory::MeteredVector<std::uint64_t> wanting_;
    memory::MeteredVector<char> is_full_;
};

}  // namespace sluice::redistribution
