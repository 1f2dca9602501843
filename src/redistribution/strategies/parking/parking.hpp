// SPDX-License-Identifier: BSD-3-Clause
/// The parking algorithm of Pinar and Hendrickson as MADRE describes it (section 2.1): global phases.
#pragma once

#include <cstdint>
#include <span>

#include "memory/metered_bytes.hpp"
#include "redistribution/block_order.hpp"
#include "redistribution/strategies/moving/block_stream.hpp"
#include "redistribution/strategies/moving/step_clock.hpp"
#include "redistribution/strategies/parking/parking_match.hpp"
#include "redistribution/strategies/strategy.hpp"

namespace sluice::redistribution {

/// First-fit: goes round the sources, beginning after `rank`, and grants each as much of its request as still fits into
/// `free`. Returns the sum of the grants. (Section 2.1, after Pinar and Hendrickson 2004. If all ranks began with the
/// same source, the first sources would be the bottleneck of every phase.)
std::uint64_t apportion_first_fit(std::uint64_t free, int rank, std::span<std::uint64_t const> requests,
                                  std::span<std::uint64_t> grants) noexcept;

/// Moves blocks in phases until all are on their final rank. The constructor allocates all memory: 16 bytes for each
/// slot, O(ranks), and one block, or two if a spare slot may be needed.
class ParkingPhases {
  public:
    explicit ParkingPhases(Problem const& problem);

    /// Collective. Takes the array; if no process has a free slot, one gets a spare one. Returns false if no block has
    /// to move.
    bool start(std::byte* data);
    /// Collective. Runs one phase; returns false if it was the last one.
    bool run_phase(RedistributionReport& report, StepClock& clock);
    /// Makes the local permutation after the last phase.
    void settle(RedistributionReport& report, StepClock& clock);

    BlockOrder& order() noexcept { return order_; }
    BlockArray const& blocks() const noexcept { return blocks_; }
    std::byte* room() const noexcept { return room_.data(); }
    /// At the root after a phase, the outlook on the phases still to come; null elsewhere.
    ParkingOutlook const* outlook() const noexcept { return match_.outlook(); }
    /// Sorts the blocks; each phase begins with it.
    void sort(RedistributionReport& report);
    /// Whether a process got a spare slot.
    bool has_spare() const noexcept { return has_spare_; }

  private:
    void exchange_requests();
    void exchange_grants();
    bool match_parking();
    void transfer(RedistributionReport& report);
    void update_order(RedistributionReport& report);
    std::span<SlotRange const> outgoing_ranges(int target);
    void take_parked(std::uint64_t count);

    /// Visits the blocks without a grant in their order, to find those to park.
    struct ParkedCursor {
        int rank = 0;
        std::uint64_t taken = 0;
    };

    Problem problem_;
    RequestWindow window_;
    BlockStream incoming_;
    BlockStream outgoing_;
    BlockOrder order_;
    ParkingMatch match_;
    memory::MeteredBytes room_;
    memory::MeteredBytes spare_;
    BlockArray blocks_{};
    bool has_spare_ = false;
    memory::MeteredVector<std::uint64_t> requests_out_;  // by rank
    memory::MeteredVector<std::uint64_t> requests_in_;
    memory::MeteredVector<std::uint64_t> grants_out_;
    memory::MeteredVector<std::uint64_t> grants_in_;
    memory::MeteredVector<SlotRange> ranges_;
    std::size_t range_count_ = 0;
    ParkedCursor parked_;
};

}  // namespace sluice::redistribution
