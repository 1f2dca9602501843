// SPDX-License-Identifier: BSD-3-Clause
/// The functions of sluice/c/packed_plan.h. Errors that only one rank can see are agreed on first.
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/c_boundary.hpp"
#include "c/c_context.hpp"
#include "c/c_handles.hpp"
#include "c/c_report.hpp"
#include "c/redistribution/overrides.hpp"
#include "engine/context_state.hpp"
#include "sluice/c/packed_plan.h"
#include "sluice/packed_plan.hpp"

using sluice::Error;
using sluice::base::c_boundary;
using sluice::c::agree_on_no_error;
using sluice::c::existing;
using sluice::c::fault_in;
using sluice::c::fill_after;
using sluice::c::free_handle;
using sluice::c::HandleMemory;
using sluice::c::invalid;
using sluice::c::looked_up;
using sluice::c::overrides_of;

struct sluice_packed_plan {
    static constexpr sluice::c::HandleKind k_kind = sluice::c::HandleKind::packed_plan;
    sluice::PackedPlan plan;
    std::shared_ptr<sluice::engine::ContextState> context;  // a plan may outlive its context
};

namespace {

/// A number that a plan tells; 0 for a handle that is none.
uint64_t told_by(sluice_packed_plan const* plan, std::uint64_t (sluice::PackedPlan::*number)() const) {
    sluice_packed_plan const* const of = looked_up(plan, "plan");
    return of == nullptr ? 0 : (of->plan.*number)();
}

}  // namespace

int sluice_packed_plan_create(sluice_context* context, uint64_t count, uint64_t const* sizes, int const* ranks,
                              uint64_t element_bytes, sluice_options const* options, sluice_packed_plan** plan) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        sluice::RedistributeOptions overrides;
        HandleMemory<sluice_packed_plan> memory;
        std::optional<Error> const fault = fault_in([&] {
            existing(plan, "plan") = nullptr;
            memory.take();
            if (count > 0 && sizes == nullptr) throw invalid("sizes is NULL, count is " + std::to_string(count));
            if (count > 0 && ranks == nullptr) throw invalid("ranks is NULL, count is " + std::to_string(count));
            overrides = overrides_of(options);
        });
        agree_on_no_error(sluice::engine::ContextState::of(over), fault, "sluice_packed_plan_create");
        *plan = memory.make(
            sluice::PackedPlan(over, {std::span(sizes, count), std::span(ranks, count), {element_bytes}}, overrides),
            sluice::engine::ContextState::shared_by(over));
    });
}

uint64_t sluice_packed_plan_blocks_after(sluice_packed_plan const* plan) {
    return told_by(plan, &sluice::PackedPlan::blocks_after);
}

uint64_t sluice_packed_plan_elements_after(sluice_packed_plan const* plan) {
    return told_by(plan, &sluice::PackedPlan::elements_after);
}

uint64_t sluice_packed_plan_elements(sluice_packed_plan const* plan) {
    return told_by(plan, &sluice::PackedPlan::elements);
}

int sluice_packed_plan_apply(sluice_packed_plan* plan, void* data, uint64_t data_bytes, uint64_t* sizes,
                             uint64_t most_blocks, sluice_report* report) {
    return c_boundary([&] {
        sluice_packed_plan& over = existing(plan, "plan");
        std::optional<Error> const fault = fault_in([&] { sluice::c::check_report(report); });
        agree_on_no_error(*over.context, fault, "sluice_packed_plan_apply");
        fill_after(report, over.plan.apply(std::span(static_cast<std::byte*>(data), data_bytes),
                                           std::span(sizes, most_blocks)));
    });
}

int sluice_packed_plan_free(sluice_packed_plan** plan) {
    return free_handle(plan, "plan");
}
