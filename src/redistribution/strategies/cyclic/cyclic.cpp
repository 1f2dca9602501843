// SPDX-License-Identifier: BSD-3-Clause
/// Strategy `cyclic`: the cyclic scheduler of MADRE, section 2.2. Memory: 16 bytes for each slot, O(ranks), one block,
/// and 24 bytes for each action of the schedule, which is kept for the next array.
#include "memory/metered_bytes.hpp"
#include "redistribution/block_order.hpp"
#include "redistribution/strategies/cyclic/cyclic_execution.hpp"
#include "redistribution/strategies/cyclic/cyclic_schedule.hpp"
#include "redistribution/strategies/moving/report_counts.hpp"
#include "redistribution/strategies/moving/step_clock.hpp"
#include "redistribution/strategies/strategy.hpp"

namespace sluice::redistribution {

namespace {

class Cyclic final : public Mover {
  public:
    explicit Cyclic(Problem const& problem)
        : problem_(problem),
          order_(problem.slots, problem.context.size(), problem.context.rank(), problem.meter),
          maker_(problem.context, problem.meter),
          schedule_(memory::MeteredAllocator<Action>(problem.meter)),
          runner_(problem.context.comm(), problem.context.settings().outstanding_requests, order_, problem.meter),
          extra_(problem.block_bytes, problem.meter) {}

    void move(std::byte* data, RedistributionReport& report) override {
        StepClock clock(report);
        order_.start(*problem_.forward, problem_.slots);
        if (!has_schedule_) {
            create_schedule();
            clock.step("schedule");
        }
        BlockArray const blocks{data, problem_.slots, problem_.block_bytes, extra_.data()};
        for (Action const& action : schedule_) {
            count_copied(report, order_.sort(blocks, extra_.data()), problem_.block_bytes);
            clock.step("sort");
            runner_.run(action, blocks, report);
            clock.step("transfer");
        }
        count_copied(report, order_.settle(blocks, extra_.data()), problem_.block_bytes);
        clock.step("settle");
    }

  private:
    void create_schedule() {
        if (!maker_.make(order_, schedule_)) {
            schedule_.clear();
            throw Error(ErrorCode::out_of_memory,
                        "cyclic: a rank has no memory for its schedule (24 bytes for each action); nothing was moved");
        }
        has_schedule_ = true;
    }

    Problem problem_;
    BlockOrder order_;
    ScheduleMaker maker_;
    Schedule schedule_;
    ActionRunner runner_;
    memory::MeteredBytes extra_;  // the extra free block, and room for cycles of local moves between actions
    bool has_schedule_ = false;
};

}  // namespace

std::unique_ptr<Mover> prepare_cyclic(Problem const& problem) {
    return std::make_unique<Cyclic>(problem);
}

}  // namespace sluice::redistribution
