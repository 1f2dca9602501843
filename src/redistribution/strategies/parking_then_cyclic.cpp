// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/parking_then_cyclic.hpp"

#include "mpi/mpi.hpp"
#include "node/node.hpp"
#include "redistribution/strategies/automatic.hpp"
#include "redistribution/strategies/cyclic/cyclic_execution.hpp"
#include "redistribution/strategies/cyclic/cyclic_schedule.hpp"
#include "redistribution/strategies/parking/parking.hpp"

namespace sluice::redistribution {

namespace {

class ParkingThenCyclic final : public Mover {
  public:
    explicit ParkingThenCyclic(Problem const& problem)
        : problem_(problem),
          phases_(problem),
          maker_(problem.context, problem.meter),
          schedule_(memory::MeteredAllocator<Action>(problem.meter)),
          runner_(problem.context.comm(), problem.context.settings().outstanding_requests, phases_.order(),
                  problem.meter) {}

    void move(std::byte* data, RedistributionReport& report) override {
        StepClock clock(report);
        bool may_switch = true;
        for (bool more = phases_.start(data); more;) {
            more = phases_.run_phase(report, clock);
            if (!more || !may_switch || phases_.has_spare() || !decide_to_switch()) continue;
            // Without memory for the schedule the phases go on, because they need none.
            bool const has_schedule = maker_.make(phases_.order(), schedule_);
            clock.step("schedule");
            if (has_schedule) {
                execute_schedule(report, clock);
                more = false;
            }
            may_switch = false;
        }
        phases_.settle(report, clock);
    }

  private:
    /// Collective. The root decides from the offers of the last phase.
    bool decide_to_switch() {
        int decision = 0;
        if (ParkingOutlook const* const outlook = phases_.outlook()) {
            Facts rest;
            rest.ranks = problem_.context.size();
            rest.one_node = problem_.node != nullptr && problem_.node->size() == problem_.context.size();
            rest.block_bytes = problem_.block_bytes;
            rest.staging = problem_.staging.count;
            rest.most_slots = problem_.slots;
            rest.most_moved = outlook->most_remaining;
            rest.all_moved = outlook->all_remaining;
            rest.most_partners = outlook->most_partners;
            rest.least_free = outlook->least_free;
            rest.all_free = outlook->all_free;
            rest.most_phases = outlook->most_phases;
            Predictions const predicted = predict(rest);
            decision = predicted.cyclic < predicted.parking ? 1 : 0;
        }
        mpi::check(MPI_Bcast(&decision, 1, MPI_INT, ParkingMatch::k_root, problem_.context.comm()), "MPI_Bcast");
        return decision != 0;
    }

    void execute_schedule(RedistributionReport& report, StepClock& clock) {
        BlockArray blocks = phases_.blocks();
        blocks.spare = phases_.room();
        for (Action const& action : schedule_) {
            phases_.sort(report);
            clock.step("sort");
            runner_.run(action, blocks, report);
            clock.step("transfer");
        }
    }

    Problem const& problem_;
    ParkingPhases phases_;
    ScheduleMaker maker_;
    Schedule schedule_;
    ActionRunner runner_;
};

}  // namespace

std::unique_ptr<Mover> prepare_parking_then_cyclic(Problem const& problem) {
    return std::make_unique<ParkingThenCyclic>(problem);
}

StrategyEntry const& parking_then_cyclic_entry() {
    static constexpr StrategyEntry k_entry{.id = Strategy::parking,
                                           .name = "parking then cyclic",
                                           .needs_node = false,
                                           .needs = needs_forward,
                                           .prepare = prepare_parking_then_cyclic};
    return k_entry;
}

}  // namespace sluice::redistribution
