// SPDX-License-Identifier: BSD-3-Clause
/// The functions of sluice/c/alltoall.h. Those that make plans agree first on errors that only one rank can see.
#include "sluice/c/alltoall.h"

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/c_boundary.hpp"
#include "c/c_context.hpp"
#include "c/c_handles.hpp"
#include "c/c_options.hpp"
#include "c/c_report.hpp"
#include "engine/context_state.hpp"
#include "sluice/alltoall.hpp"

using sluice::base::c_boundary;
using sluice::c::existing;

struct sluice_alltoall_plan {
    static constexpr sluice::c::HandleKind k_kind = sluice::c::HandleKind::alltoall_plan;
    sluice::AlltoallPlan plan;
};

namespace {

sluice::AlltoallOptions alltoall_overrides_of(sluice_options const* options) {
    sluice::AlltoallOptions overrides;
    if (options == nullptr) return overrides;
    sluice::Settings settings;
    for (auto const& [name, value] : existing(options, "options").values) {
        if (name != "alltoall" && name != "alltoall_window")
            throw sluice::c::invalid("setting '" + name +
                                     "' belongs to the context; an all-to-all overrides alltoall and alltoall_window");
        settings.set(name, value);
        if (name == "alltoall")
            overrides.algorithm = settings.alltoall;
        else
            overrides.window = settings.alltoall_window;
    }
    return overrides;
}

/// The lists of one side, with an element for each rank.
struct Lists {
    std::span<std::int64_t const> counts;
    std::span<std::int64_t const> displacements;
    MPI_Datatype type = MPI_DATATYPE_NULL;
};

Lists lists_of(sluice::Context const& context, sluice_alltoall_blocks const* blocks, char const* what) {
    sluice_alltoall_blocks const& given = existing(blocks, what);
    auto const ranks = static_cast<std::size_t>(context.size());
    return {{&existing(given.counts, "counts"), ranks},
            {&existing(given.displacements, "displacements"), ranks},
            given.type};
}

/// Makes a plan by `make`, from arguments that `read` reads.
template <typename Read, typename Make>
int create_plan(sluice_context* context, sluice_alltoall_plan** plan, char const* call, Read const& read,
                Make const& make) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        sluice::c::HandleMemory<sluice_alltoall_plan> memory;
        std::optional<sluice::Error> const fault = sluice::c::fault_in([&] {
            existing(plan, "plan") = nullptr;
            memory.take();
            read(over);
        });
        sluice::c::agree_on_no_error(sluice::engine::ContextState::of(over), fault, call);
        *plan = memory.make(make(over));
    });
}

}  // namespace

int sluice_alltoall(sluice_context* context, void const* from, int64_t send_count, MPI_Datatype send_type, void* to,
                    int64_t receive_count, MPI_Datatype receive_type, sluice_options const* options,
                    sluice_report* report) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        sluice::c::check_report(report);
        sluice::c::fill_after(report, sluice::alltoall(over, from, send_count, send_type, to, receive_count,
                                                       receive_type, alltoall_overrides_of(options)));
    });
}

int sluice_alltoallv(sluice_context* context, void const* from, sluice_alltoall_blocks const* leaving, void* to,
                     sluice_alltoall_blocks const* coming, sluice_options const* options, sluice_report* report) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        sluice::c::check_report(report);
        Lists const out = lists_of(over, leaving, "leaving");
        Lists const in = lists_of(over, coming, "coming");
        sluice::c::fill_after(report,
                              sluice::alltoallv(over, from, out.counts, out.displacements, out.type, to, in.counts,
                                                in.displacements, in.type, alltoall_overrides_of(options)));
    });
}

int sluice_alltoall_plan_create(sluice_context* context, int64_t send_count, MPI_Datatype send_type,
                                int64_t receive_count, MPI_Datatype receive_type, sluice_options const* options,
                                sluice_alltoall_plan** plan) {
    sluice::AlltoallOptions overrides;
    return create_plan(
        context, plan, "sluice_alltoall_plan_create",
        [&](sluice::Context const&) { overrides = alltoall_overrides_of(options); },
        [&](sluice::Context& over) {
            return sluice::AlltoallPlan(over, send_count, send_type, receive_count, receive_type, overrides);
        });
}

int sluice_alltoallv_plan_create(sluice_context* context, sluice_alltoall_blocks const* leaving,
                                 sluice_alltoall_blocks const* coming, sluice_options const* options,
                                 sluice_alltoall_plan** plan) {
    sluice::AlltoallOptions overrides;
    Lists out;
    Lists in;
    return create_plan(
        context, plan, "sluice_alltoallv_plan_create",
        [&](sluice::Context const& over) {
            overrides = alltoall_overrides_of(options);
            out = lists_of(over, leaving, "leaving");
            in = lists_of(over, coming, "coming");
        },
        [&](sluice::Context& over) {
            return sluice::AlltoallPlan(over, out.counts, out.displacements, out.type, in.counts, in.displacements,
                                        in.type, overrides);
        });
}

int sluice_alltoall_plan_apply(sluice_alltoall_plan* plan, void const* from, void* to, sluice_report* report) {
    return c_boundary([&] {
        sluice_alltoall_plan& over = existing(plan, "plan");
        sluice::c::check_report(report);
        sluice::c::fill_after(report, over.plan.apply(from, to));
    });
}

int sluice_alltoall_plan_free(sluice_alltoall_plan** plan) {
    return sluice::c::free_handle(plan, "plan");
}
