// SPDX-License-Identifier: BSD-3-Clause
/// The functions of sluice/c/rank_plan.h. Errors that only one rank can see are agreed on first.
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/c_boundary.hpp"
#include "c/c_context.hpp"
#include "c/c_handles.hpp"
#include "c/c_report.hpp"
#include "c/redistribution/overrides.hpp"
#include "engine/context_state.hpp"
#include "sluice/c/rank_plan.h"
#include "sluice/rank_plan.hpp"

using sluice::Error;
using sluice::base::c_boundary;
using sluice::c::agree_on_no_error;
using sluice::c::arrays_of;
using sluice::c::existing;
using sluice::c::fault_in;
using sluice::c::fill_after;
using sluice::c::free_handle;
using sluice::c::HandleMemory;
using sluice::c::invalid;
using sluice::c::looked_up;
using sluice::c::overrides_of;

struct sluice_rank_plan {
    static constexpr sluice::c::HandleKind k_kind = sluice::c::HandleKind::rank_plan;
    sluice::RankPlan plan;
    std::shared_ptr<sluice::engine::ContextState> context;  // a plan may outlive its context
};

int sluice_rank_plan_create(sluice_context* context, uint64_t count, int const* ranks, uint64_t room,
                            sluice_block_order order, sluice_options const* options, sluice_rank_plan** plan) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        sluice::RankPlanOptions chosen;
        HandleMemory<sluice_rank_plan> memory;
        std::optional<Error> const fault = fault_in([&] {
            existing(plan, "plan") = nullptr;
            memory.take();
            if (count > 0 && ranks == nullptr) throw invalid("ranks is NULL, count is " + std::to_string(count));
            if (order != SLUICE_BLOCKS_ANY && order != SLUICE_BLOCKS_BY_SOURCE)
                throw invalid(std::to_string(static_cast<int>(order)) + " is no order of blocks");
            chosen.redistribute = overrides_of(options);
        });
        agree_on_no_error(sluice::engine::ContextState::of(over), fault, "sluice_rank_plan_create");
        if (order == SLUICE_BLOCKS_BY_SOURCE) chosen.order = sluice::BlockOrder::by_source;
        if (room != std::numeric_limits<std::uint64_t>::max()) chosen.room = room;
        *plan = memory.make(sluice::RankPlan(over, std::span(ranks, count), chosen),
                            sluice::engine::ContextState::shared_by(over));
    });
}

uint64_t sluice_rank_plan_count_after(sluice_rank_plan const* plan) {
    sluice_rank_plan const* const of = looked_up(plan, "plan");
    return of == nullptr ? 0 : of->plan.count_after();
}

uint64_t sluice_rank_plan_slots(sluice_rank_plan const* plan) {
    sluice_rank_plan const* const of = looked_up(plan, "plan");
    return of == nullptr ? 0 : of->plan.slots();
}

int sluice_rank_plan_apply(sluice_rank_plan* plan, size_t arrays, sluice_blocks const* blocks, sluice_report* report) {
    return c_boundary([&] {
        sluice_rank_plan& over = existing(plan, "plan");
        std::vector<sluice::Blocks> list;
        std::optional<Error> const fault = fault_in([&] {
            sluice::c::check_report(report);
            list = arrays_of(arrays, blocks);
        });
        agree_on_no_error(*over.context, fault, "sluice_rank_plan_apply");
        fill_after(report, over.plan.apply(list));
    });
}

int sluice_rank_plan_free(sluice_rank_plan** plan) {
    return free_handle(plan, "plan");
}
