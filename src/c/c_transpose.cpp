// SPDX-License-Identifier: BSD-3-Clause
/// The functions of sluice/c/transpose.h. Errors that only one rank can see are agreed on first.
#include "sluice/c/transpose.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>

#include "base/c_boundary.hpp"
#include "c/c_context.hpp"
#include "c/c_handles.hpp"
#include "c/c_options.hpp"
#include "c/c_report.hpp"
#include "engine/context_state.hpp"
#include "sluice/transpose.hpp"

using sluice::base::c_boundary;
using sluice::c::existing;

struct sluice_transpose_plan {
    static constexpr sluice::c::HandleKind k_kind = sluice::c::HandleKind::transpose_plan;
    sluice::TransposePlan plan;
    std::shared_ptr<sluice::engine::ContextState> context;  // a plan may outlive its context
};

namespace {

/// The arguments of C, as those of C++.
struct TransposeArguments {
    sluice::ArrayShape shape;
    sluice::ArrayLayout before;
    sluice::ArrayLayout after;
    sluice::TransposeOptions overrides;
};

sluice::ArrayLayout layout_of(sluice_array_layout const& from) {
    sluice::ArrayLayout layout;
    std::copy_n(from.grid, 3, layout.grid.begin());
    std::copy_n(from.order, 3, layout.order.begin());
    std::copy_n(from.block, 3, layout.block.begin());
    return layout;
}

sluice_array_layout c_layout_of(sluice::ArrayLayout const& from) {
    sluice_array_layout layout{};
    std::ranges::copy(from.grid, layout.grid);
    std::ranges::copy(from.order, layout.order);
    std::ranges::copy(from.block, layout.block);
    return layout;
}

std::array<int, 3> order_of(int const* order) {
    if (order == nullptr) return {0, 1, 2};
    return {order[0], order[1], order[2]};
}

std::array<std::int64_t, 3> extents_of(std::int64_t const* extents) {
    existing(extents, "extents");
    return {extents[0], extents[1], extents[2]};
}

sluice::TransposeOptions transpose_overrides_of(int wire, sluice_options const* options) {
    sluice::TransposeOptions overrides;
    if (wire == SLUICE_WIRE_TYPE_FLOAT_FOR_DOUBLE)
        overrides.wire = sluice::WireType::float_for_double;
    else if (wire != SLUICE_WIRE_TYPE_AS_STORED)
        throw sluice::c::invalid("there is no wire type " + std::to_string(wire));
    if (options == nullptr) return overrides;
    sluice::Settings settings;
    for (auto const& [name, value] : existing(options, "options").values) {
        if (name != "staging")
            throw sluice::c::invalid("setting '" + name + "' belongs to the context; a transpose overrides staging");
        settings.set(name, value);
        overrides.staging = settings.staging;
    }
    return overrides;
}

TransposeArguments arguments_of(sluice_array_shape const* shape, sluice_array_layout const* before,
                                sluice_array_layout const* after, int wire, sluice_options const* options) {
    TransposeArguments all;
    all.shape = {extents_of(existing(shape, "shape").extents), {shape->element_bytes}};
    all.before = layout_of(existing(before, "before"));
    all.after = layout_of(existing(after, "after"));
    all.overrides = transpose_overrides_of(wire, options);
    return all;
}

}  // namespace

int sluice_slabs(int axis, int ranks, int const* order, sluice_array_layout* layout) {
    return c_boundary([&] { existing(layout, "layout") = c_layout_of(sluice::slabs(axis, ranks, order_of(order))); });
}

int sluice_pencils(int along, int rows, int columns, int const* order, sluice_array_layout* layout) {
    return c_boundary(
        [&] { existing(layout, "layout") = c_layout_of(sluice::pencils(along, rows, columns, order_of(order))); });
}

int sluice_part_of(int64_t const* extents, sluice_array_layout const* layout, int rank, int64_t* begin, int64_t* end) {
    return c_boundary([&] {
        sluice::ArrayPart const part =
            sluice::part_of(extents_of(extents), layout_of(existing(layout, "layout")), rank);
        std::ranges::copy(part.begin, &existing(begin, "begin"));
        std::ranges::copy(part.end, &existing(end, "end"));
    });
}

int sluice_transpose(sluice_context* context, sluice_array_shape const* shape, sluice_array_layout const* before,
                     sluice_array_layout const* after, void const* from, void* to, int wire,
                     sluice_options const* options, sluice_report* report) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        TransposeArguments all;
        std::optional<sluice::Error> const fault = sluice::c::fault_in([&] {
            sluice::c::check_report(report);
            all = arguments_of(shape, before, after, wire, options);
        });
        sluice::c::agree_on_no_error(sluice::engine::ContextState::of(over), fault, "sluice_transpose");
        sluice::c::fill_after(report,
                              sluice::transpose(over, all.shape, all.before, all.after, from, to, all.overrides));
    });
}

int sluice_transpose_plan_create(sluice_context* context, sluice_array_shape const* shape,
                                 sluice_array_layout const* before, sluice_array_layout const* after, int wire,
                                 sluice_options const* options, sluice_transpose_plan** plan) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        TransposeArguments all;
        sluice::c::HandleMemory<sluice_transpose_plan> memory;
        std::optional<sluice::Error> const fault = sluice::c::fault_in([&] {
            existing(plan, "plan") = nullptr;
            memory.take();
            all = arguments_of(shape, before, after, wire, options);
        });
        sluice::c::agree_on_no_error(sluice::engine::ContextState::of(over), fault, "sluice_transpose_plan_create");
        *plan = memory.make(sluice::TransposePlan(over, all.shape, all.before, all.after, all.overrides),
                            sluice::engine::ContextState::shared_by(over));
    });
}

int sluice_transpose_plan_apply(sluice_transpose_plan* plan, void const* from, void* to, sluice_report* report) {
    return c_boundary([&] {
        sluice_transpose_plan& over = existing(plan, "plan");
        std::optional<sluice::Error> const fault = sluice::c::fault_in([&] { sluice::c::check_report(report); });
        sluice::c::agree_on_no_error(*over.context, fault, "sluice_transpose_plan_apply");
        sluice::c::fill_after(report, over.plan.apply(from, to));
    });
}

int sluice_transpose_plan_free(sluice_transpose_plan** plan) {
    return sluice::c::free_handle(plan, "plan");
}
