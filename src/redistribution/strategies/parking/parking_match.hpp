// SPDX-License-Identifier: BSD-3-Clause
/// The root's part in a phase of parking: it matches processes that have blocks to park with processes that have extra
/// free space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/context_state.hpp"
#include "memory/meter.hpp"

namespace sluice::redistribution {

/// The offer that a process sends to the root in each phase.
struct ParkingOffer {
    std::uint64_t to_park = 0;    ///< blocks it would have to park to receive everything in the next phase
    std::uint64_t extra = 0;      ///< free slots that no process requested
    std::uint64_t remaining = 0;  ///< incoming blocks that remain after this phase
    std::uint64_t granted = 0;    ///< blocks that it receives in this phase
    std::uint64_t free = 0;       ///< free slots after this phase
    std::uint64_t partners = 0;   ///< ranks that it has blocks for
};

/// What the offers of a phase tell about the phases still to come.
struct ParkingOutlook {
    std::uint64_t all_remaining = 0;
    std::uint64_t most_remaining = 0;
    std::uint64_t all_free = 0;
    std::uint64_t least_free = 0;   ///< of the processes that still have incoming blocks
    std::uint64_t most_phases = 0;  ///< incoming blocks divided by free slots, on the worst rank, rounded up
    std::uint64_t most_partners = 0;
    std::uint64_t all_granted = 0;
};
ParkingOutlook outlook_of(std::span<ParkingOffer const> offers) noexcept;

/// `count` blocks of `from` are parked on `host`.
struct ParkingPair {
    int from = 0;
    int host = 0;
    std::uint64_t count = 0;
    bool operator==(ParkingPair const&) const = default;
};

/// First-fit in order of rank (section 2.1). Fills `pairs`, which has room for one pair of each rank, and returns their
/// number.
std::size_t match_parking_at_root(std::span<ParkingOffer> offers, std::span<ParkingPair> pairs) noexcept;

/// Gathers the offers at the root, matches them, and sends each process its part. Takes O(ranks) memory, allocated by
/// the constructor.
class ParkingMatch {
  public:
    ParkingMatch(engine::ContextState& context, memory::Meter& meter);

    static constexpr int k_root = 0;

    /// Collective. Returns true if this phase is the last one.
    bool run(ParkingOffer const& mine);

    /// At the root after `run`; null elsewhere.
    ParkingOutlook const* outlook() const noexcept { return at_root() ? &outlook_ : nullptr; }

    /// The number of blocks that this process parks on `rank`, and that `rank` parks here, in this phase.
    std::uint64_t parked_on(int rank) const noexcept { return out_[static_cast<std::size_t>(rank)]; }
    std::uint64_t parked_from(int rank) const noexcept { return in_[static_cast<std::size_t>(rank)]; }
    std::uint64_t parked_out() const noexcept { return total_out_; }

  private:
    /// One line of a process's instructions: give to or take from `peer`.
    struct Instruction {
        std::int32_t peer;
        std::int32_t gives;
        std::uint64_t count;
    };
    enum class Verdict : int { go_on, last_phase, stuck };
    struct Head {
        int instructions;
        int anybody_parks;
        int verdict;
    };
    bool at_root() const noexcept { return context_.rank() == k_root; }
    std::size_t prepare_instructions();

    engine::ContextState& context_;
    memory::MeteredVector<std::uint64_t> out_;
    memory::MeteredVector<std::uint64_t> in_;
    std::uint64_t total_out_ = 0;
    memory::MeteredVector<Instruction> instructions_;
    // at the root
    ParkingOutlook outlook_;
    memory::MeteredVector<ParkingOffer> offers_;
    memory::MeteredVector<ParkingPair> pairs_;
    memory::MeteredVector<Instruction> all_instructions_;
    memory::MeteredVector<Head> heads_;
    memory::MeteredVector<int> byte_counts_;
    memory::MeteredVector<int> byte_displacements_;
};

}  // namespace sluice::redistribution
