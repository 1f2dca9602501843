// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/shared/shared_form.hpp"

#include <algorithm>
#include <new>

#include "redistribution/strategies/moving/report_counts.hpp"
#include "redistribution/strategies/moving/step_clock.hpp"
#include "redistribution/strategies/shared/walk.hpp"
#include "redistribution/strategies/strategy.hpp"

namespace sluice::redistribution {

bool SharedForm::may_serve(engine::ContextState& context, Blocks const& blocks) noexcept {
    if (context.settings().transport != Transport::automatic || !context.is_one_node()) return false;
    return blocks.count == 0 ||
           context.process().arrays()->find(blocks.data, blocks.count * blocks.block_bytes.count).has_value();
}

bool SharedForm::is_possible(node::Node const& node, int ranks) noexcept {
    // The array and the map of each peer stay mapped during a call.
    constexpr auto k_most_ranks = static_cast<int>(node::ArrayMemory::k_most_of_peers / 2);
    return node.has_rings() && node.size() == ranks && ranks <= k_most_ranks;
}

bool SharedForm::map_arrays(Blocks const& blocks) {
    node::ArrayMemory& memory = *context_.process().arrays();
    std::optional<node::ArrayMemory::Place> place;
    if (blocks.count > 0) place = memory.find(blocks.data, blocks.count * blocks.block_bytes.count);
    bool const has_all = arrays_.exchange(*node_, memory, static_cast<std::byte*>(blocks.data), place);
    return context_.all_true(has_all && (place || blocks.count == 0));
}

bool SharedForm::make_map(std::uint64_t slots, std::uint64_t most_slots) {
    try {
        map_.emplace(context_, slots, most_slots);
    } catch (std::bad_alloc const&) {
        map_.reset();
    }
    // Without the second step a rank without a map would not be waited for.
    if (!context_.all_true(map_.has_value())) {
        map_.reset();
        return false;
    }
    if (context_.all_true(map_->map_peers(*node_))) return true;
    map_.reset();
    return false;
}

bool SharedForm::tell(std::uint64_t slots, std::uint64_t most_slots, std::uint64_t live,
                      DestinationsFrom const& destinations, AddressCounts& counts) {
    if (!make_map(slots, most_slots)) return false;
    if (context_.all_true(map_->tell(node_->rings(), live, destinations, counts))) return true;
    map_.reset();
    return false;
}

bool SharedForm::take(std::uint64_t most_slots, AddressMap const& inverse) {
    if (map_) return true;
    if (!make_map(inverse.size(), most_slots)) return false;
    map_->take(inverse);
    return true;
}

namespace {

class WalkMover final : public Mover {
  public:
    explicit WalkMover(Problem const& problem)
        : problem_(problem), memory_(WalkMemory::of(problem.staging, problem.block_bytes)) {
        if (problem.shared->map().is_short())
            short_.emplace(problem.shared->node(), memory_, problem.meter);
        else
            long_.emplace(problem.shared->node(), memory_, problem.meter);
    }

    void move(std::byte*, RedistributionReport& report) override {
        StepClock clock(report);
        node::NodeRings& rings = problem_.shared->node().rings();
        SharedMap& map = problem_.shared->map();
        for (std::uint64_t offset = 0; offset < problem_.block_bytes; offset += memory_.piece_bytes, ++report.rounds) {
            map.begin_pass();
            rings.barrier();  // all words are as at the start, and no rank is in another move
            clock.step("meet");
            std::uint64_t const bytes = std::min(memory_.piece_bytes, problem_.block_bytes - offset);
            walk(map, {problem_.shared->arrays(), problem_.block_bytes, offset, bytes});
            clock.step("walk");
            rings.barrier();  // all ranks have filled the slots of this one
            clock.step("end");
        }
        describe(report);
    }

  private:
    void walk(SharedMap const& map, SharedSlots const& slots) {
        if (short_)
            short_->run(map, slots);
        else
            long_->run(map, slots);
    }

    void describe(RedistributionReport& report) {
        count_received(report, problem_.incoming, problem_.block_bytes);
        count_sent(report, problem_.outgoing, problem_.block_bytes);
        Bytes const copied = short_ ? short_->take_bytes_copied() : long_->take_bytes_copied();
        report.bytes_local += copied;
        report.blocks_local += copied.count / problem_.block_bytes;  // a piece counts as a part of a block
    }

    Problem problem_;
    WalkMemory memory_;
    std::optional<Walk<std::uint32_t>> short_;
    std::optional<Walk<std::uint64_t>> long_;
};

}  // namespace

std::unique_ptr<Mover> prepare_walk(Problem const& problem) {
    return std::make_unique<WalkMover>(problem);
}

}  // namespace sluice::redistribution
