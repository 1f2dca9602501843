// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/relay/relay_form.hpp"

#include <optional>

#include "redistribution/strategies/moving/report_counts.hpp"
#include "redistribution/strategies/moving/step_clock.hpp"
#include "redistribution/strategies/relay/relay.hpp"

namespace sluice::redistribution {

namespace {

std::uint32_t credits_for(Problem const& problem) {
    return Relay::credits_for(*problem.node, problem.staging / 2, problem.block_bytes, problem.most_slots);
}

class RelayMover final : public Mover {
  public:
    explicit RelayMover(Problem const& problem)
        : problem_(problem), relay_(*problem.node, problem.block_bytes, credits_for(problem), problem.meter) {
        if (!problem.once) working_.emplace(*problem.forward);
    }

    void move(std::byte* data, RedistributionReport& report) override {
        StepClock clock(report);
        problem_.node->rings().barrier();  // no rank may start before all have finished the last move
        clock.step("meet");
        if (working_) *working_ = *problem_.forward;
        relay_.run(data, working_ ? *working_ : *problem_.forward, problem_.outgoing + problem_.staying,
                   problem_.incoming + problem_.staying);
        clock.step("relay");
        ++report.rounds;
        count_received(report, problem_.incoming, problem_.block_bytes);
        count_sent(report, problem_.outgoing, problem_.block_bytes);
        count_copied(report, relay_.take_blocks_copied(), problem_.block_bytes);
    }

  private:
    Problem problem_;
    Relay relay_;
    std::optional<AddressMap> working_;  // moving overwrites the states, and a plan keeps the original
};

}  // namespace

bool takes_relay(Problem const& problem) {
    return credits_for(problem) > 0;
}

std::unique_ptr<Mover> prepare_relay(Problem const& problem) {
    return std::make_unique<RelayMover>(problem);
}

}  // namespace sluice::redistribution
