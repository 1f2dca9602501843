// SPDX-License-Identifier: BSD-3-Clause
/// The functions of sluice/c/redistribute.h. Errors that only one rank can see are agreed on
/// first.
#include <functional>
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
#include "sluice/c/redistribute.h"
#include "sluice/redistribute.hpp"

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

struct sluice_plan {
    static constexpr sluice::c::HandleKind k_kind = sluice::c::HandleKind::plan;
    sluice::Plan plan;
    std::shared_ptr<sluice::engine::ContextState> context;  // a plan may outlive its context
};

namespace {

/// The map as the C interface takes it: two arrays, for the first `length` blocks.
struct MapArrays {
    std::uint64_t length;
    int const* ranks;
    std::int64_t const* indices;

    void check(std::uint64_t count) const {
        if (length > count)
            throw invalid(std::to_string(length) + " destinations were given for an array of " + std::to_string(count) +
                          " blocks");
        if (length > 0 && ranks == nullptr) throw invalid("ranks is NULL, length is " + std::to_string(length));
        if (length > 0 && indices == nullptr) throw invalid("indices is NULL, length is " + std::to_string(length));
    }
    sluice::Destination operator()(std::uint64_t block) const {
        if (block >= length || ranks[block] < 0) return sluice::free_block;
        return {ranks[block], indices[block]};
    }
};

}  // namespace

int sluice_redistribute(sluice_context* context, void* data, uint64_t count, uint64_t block_bytes, uint64_t length,
                        int const* ranks, int64_t const* indices, sluice_options const* options,
                        sluice_report* report) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        MapArrays const map{length, ranks, indices};
        sluice::RedistributeOptions overrides;
        std::optional<Error> const fault = fault_in([&] {
            sluice::c::check_report(report);
            map.check(count);
            overrides = overrides_of(options);
        });
        agree_on_no_error(sluice::engine::ContextState::of(over), fault, "sluice_redistribute");
        fill_after(report, redistribute(
                               over, {data, count, {block_bytes}},
                               [&](std::uint64_t block, std::span<std::byte const>) { return map(block); }, overrides));
    });
}

namespace {

/// The functions of a map. Throws Error(invalid_argument) if one is missing.
struct MapFunctions {
    sluice_destination_function destination;
    std::optional<sluice_inverse_function> source;  // none: the map is not inverted
    void* user;

    void check() const {
        if (destination == nullptr) throw invalid("the destination function is NULL");
        if (source && *source == nullptr) throw invalid("the inverse function is NULL");
    }
    sluice::Destination to(std::uint64_t index, void const* block) const {
        sluice::Destination address;
        destination(user, index, block, &address.rank, &address.index);
        return address;
    }
    /// For the duration of a call.
    sluice::InverseFunction inverse() const {
        if (!source) return {};
        return [this](std::uint64_t slot) {
            sluice::Destination address;
            (*source)(user, slot, &address.rank, &address.index);
            return address;
        };
    }
};

int redistribute_by(MapFunctions const& map, sluice_context* context, sluice::Blocks const& blocks,
                    sluice_options const* options, sluice_report* report, char const* call) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        sluice::RedistributeOptions overrides;
        std::optional<Error> const fault = fault_in([&] {
            sluice::c::check_report(report);
            map.check();
            overrides = overrides_of(options);
        });
        agree_on_no_error(sluice::engine::ContextState::of(over), fault, call);
        overrides.inverse = map.inverse();
        auto const computed = [&](std::uint64_t index, std::span<std::byte const> block) {
            return map.to(index, block.data());
        };
        fill_after(report, redistribute(over, blocks, computed, overrides));
    });
}

int create_plan_by(MapFunctions const& map, sluice_context* context, uint64_t count, sluice_options const* options,
                   sluice_plan** plan, char const* call) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        sluice::RedistributeOptions overrides;
        HandleMemory<sluice_plan> memory;
        std::optional<Error> const fault = fault_in([&] {
            existing(plan, "plan") = nullptr;
            memory.take();
            map.check();
            overrides = overrides_of(options);
        });
        agree_on_no_error(sluice::engine::ContextState::of(over), fault, call);
        overrides.inverse = map.inverse();
        auto const computed = [&](std::uint64_t index) { return map.to(index, nullptr); };
        *plan = memory.make(sluice::Plan::computed(over, count, computed, overrides),
                            sluice::engine::ContextState::shared_by(over));
    });
}

}  // namespace

int sluice_redistribute_computed(sluice_context* context, void* data, uint64_t count, uint64_t block_bytes,
                                 sluice_destination_function destination, void* user, sluice_options const* options,
                                 sluice_report* report) {
    return redistribute_by({destination, std::nullopt, user}, context, {data, count, {block_bytes}}, options, report,
                           "sluice_redistribute_computed");
}

int sluice_redistribute_invertible(sluice_context* context, void* data, uint64_t count, uint64_t block_bytes,
                                   sluice_destination_function destination, sluice_inverse_function source, void* user,
                                   sluice_options const* options, sluice_report* report) {
    return redistribute_by({destination, source, user}, context, {data, count, {block_bytes}}, options, report,
                           "sluice_redistribute_invertible");
}

int sluice_plan_create(sluice_context* context, uint64_t count, uint64_t length, int const* ranks,
                       int64_t const* indices, sluice_options const* options, sluice_plan** plan) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        MapArrays const map{length, ranks, indices};
        sluice::RedistributeOptions overrides;
        HandleMemory<sluice_plan> memory;
        std::optional<Error> const fault = fault_in([&] {
            existing(plan, "plan") = nullptr;
            memory.take();
            map.check(count);
            overrides = overrides_of(options);
        });
        agree_on_no_error(sluice::engine::ContextState::of(over), fault, "sluice_plan_create");
        // A std::function has room for a reference; for a copy of the map it would allocate.
        *plan = memory.make(sluice::Plan::computed(over, count, std::cref(map), overrides),
                            sluice::engine::ContextState::shared_by(over));
    });
}

int sluice_plan_create_computed(sluice_context* context, uint64_t count, sluice_destination_function destination,
                                void* user, sluice_options const* options, sluice_plan** plan) {
    return create_plan_by({destination, std::nullopt, user}, context, count, options, plan,
                          "sluice_plan_create_computed");
}

int sluice_plan_create_invertible(sluice_context* context, uint64_t count, sluice_destination_function destination,
                                  sluice_inverse_function source, void* user, sluice_options const* options,
                                  sluice_plan** plan) {
    return create_plan_by({destination, source, user}, context, count, options, plan, "sluice_plan_create_invertible");
}

int sluice_plan_apply(sluice_plan* plan, size_t arrays, sluice_blocks const* blocks, sluice_report* report) {
    return c_boundary([&] {
        sluice_plan& over = existing(plan, "plan");
        std::vector<sluice::Blocks> list;
        std::optional<Error> const fault = fault_in([&] {
            sluice::c::check_report(report);
            list = arrays_of(arrays, blocks);
        });
        agree_on_no_error(*over.context, fault, "sluice_plan_apply");
        fill_after(report, over.plan.apply(list));
    });
}

uint64_t sluice_plan_memory(sluice_plan const* plan) {
    sluice_plan const* const of = looked_up(plan, "plan");
    return of == nullptr ? 0 : of->plan.memory().count;
}

int sluice_plan_free(sluice_plan** plan) {
    return free_handle(plan, "plan");
}
