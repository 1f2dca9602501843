// SPDX-License-Identifier: BSD-3-Clause
/// sluice.h on top of the C++ interface. No exception passes; errors that only one rank can see are agreed on first.
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/c_boundary.hpp"
#include "c/c_context.hpp"
#include "c/c_handles.hpp"
#include "engine/context_state.hpp"
#include "groups/agree.hpp"
#include "sluice/redistribute.hpp"
#include "sluice/sluice.h"

using sluice::Error;
using sluice::ErrorCode;
using sluice::base::c_boundary;
using sluice::c::existing;
using sluice::c::fault_in;
using sluice::c::free_handle;
using sluice::c::invalid;
using sluice::c::new_handle;

struct sluice_options {
    std::vector<std::pair<std::string, std::string>> values;
};
struct sluice_plan {
    sluice::Plan plan;
    sluice::engine::ContextState& context;
};
struct sluice_report {
    sluice::RedistributionReport report;
    std::string strategy;
    std::string text;
};

static_assert(SLUICE_SUCCESS == static_cast<int>(ErrorCode::success));
static_assert(SLUICE_INVALID_ARGUMENT == static_cast<int>(ErrorCode::invalid_argument));
static_assert(SLUICE_OUT_OF_MEMORY == static_cast<int>(ErrorCode::out_of_memory));
static_assert(SLUICE_MPI_ERROR == static_cast<int>(ErrorCode::mpi));
static_assert(SLUICE_UNSUPPORTED == static_cast<int>(ErrorCode::unsupported));
static_assert(SLUICE_INTERNAL == static_cast<int>(ErrorCode::internal));

namespace {

sluice::RedistributeOptions overrides_of(sluice_options const* options) {
    sluice::RedistributeOptions overrides;
    if (options == nullptr) return overrides;
    sluice::Settings settings;
    for (auto const& [name, value] : options->values) {
        settings.set(name, value);
        if (name == "strategy")
            overrides.strategy = settings.strategy;
        else if (name == "staging")
            overrides.staging = settings.staging;
        else
            throw invalid("setting '" + name + "' belongs to the context; a call overrides strategy and staging");
    }
    return overrides;
}

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

void fill(sluice_report* report, sluice::RedistributionReport&& made) {
    if (report == nullptr) return;
    report->strategy = sluice::name_of(made.strategy);
    report->text = made.text();
    report->report = std::move(made);
}

}  // namespace

char const* sluice_last_error(void) {
    return sluice::base::last_error_text();
}

int sluice_options_create(sluice_options** options) {
    return new_handle(options, "options");
}

int sluice_options_set(sluice_options* options, char const* name, char const* value) {
    return c_boundary([&] {
        sluice_options& target = existing(options, "options");
        std::string const row = &existing(name, "name");
        std::string const text = &existing(value, "value");
        sluice::Settings().set(row, text);  // throws for a value that every call would refuse
        target.values.emplace_back(row, text);
    });
}

int sluice_options_free(sluice_options** options) {
    return free_handle(options);
}

int sluice_context_create(MPI_Comm comm, sluice_options const* options, sluice_context** context) {
    return c_boundary([&] {
        sluice::Settings settings;
        std::optional<Error> const fault = fault_in([&] {
            existing(context, "context") = nullptr;
            settings = sluice::Settings::from_environment();
            if (options == nullptr) return;
            for (auto const& [name, value] : options->values)
                settings.set(name, value);
        });
        // A rank with wrong settings makes the context all the same: without one it could not tell the other ranks.
        sluice::Context made(comm, fault ? sluice::Settings() : settings);
        sluice::groups::agree_on_no_error(sluice::engine::ContextState::of(made).comm(), fault);
        *context = new sluice_context{std::move(made)};
    });
}

int sluice_context_free(sluice_context** context) {
    return free_handle(context);
}

int sluice_redistribute(sluice_context* context, void* data, uint64_t count, uint64_t block_bytes, uint64_t length,
                        int const* ranks, int64_t const* indices, sluice_options const* options,
                        sluice_report* report) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        MapArrays const map{length, ranks, indices};
        sluice::RedistributeOptions overrides;
        std::optional<Error> const fault = fault_in([&] {
            map.check(count);
            overrides = overrides_of(options);
        });
        sluice::groups::agree_on_no_error(sluice::engine::ContextState::of(over).comm(), fault);
        fill(report, redistribute(
                         over, {data, count, block_bytes},
                         [&](std::uint64_t block, std::span<std::byte const>) { return map(block); }, overrides));
    });
}

int sluice_redistribute_computed(sluice_context* context, void* data, uint64_t count, uint64_t block_bytes,
                                 sluice_destination_function destination, void* user, sluice_options const* options,
                                 sluice_report* report) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        sluice::RedistributeOptions overrides;
        std::optional<Error> const fault = fault_in([&] {
            if (destination == nullptr) throw invalid("the destination function is NULL");
            overrides = overrides_of(options);
        });
        sluice::groups::agree_on_no_error(sluice::engine::ContextState::of(over).comm(), fault);
        auto const computed = [&](std::uint64_t index, std::span<std::byte const> block) {
            sluice::Destination to;
            destination(user, index, block.data(), &to.rank, &to.index);
            return to;
        };
        fill(report, redistribute(over, {data, count, block_bytes}, computed, overrides));
    });
}

int sluice_plan_create(sluice_context* context, uint64_t count, uint64_t length, int const* ranks,
                       int64_t const* indices, sluice_options const* options, sluice_plan** plan) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        MapArrays const map{length, ranks, indices};
        sluice::RedistributeOptions overrides;
        std::optional<Error> const fault = fault_in([&] {
            existing(plan, "plan") = nullptr;
            map.check(count);
            overrides = overrides_of(options);
        });
        sluice::groups::agree_on_no_error(sluice::engine::ContextState::of(over).comm(), fault);
        *plan = new sluice_plan{sluice::Plan::computed(over, count, map, overrides),
                                sluice::engine::ContextState::of(over)};
    });
}

int sluice_plan_apply(sluice_plan* plan, size_t arrays, sluice_blocks const* blocks, sluice_report* report) {
    return c_boundary([&] {
        sluice_plan& over = existing(plan, "plan");
        std::vector<sluice::Blocks> list;
        std::optional<Error> const fault = fault_in([&] {
            if (arrays > 0 && blocks == nullptr) throw invalid(std::to_string(arrays) + " arrays, blocks is NULL");
            for (std::size_t i = 0; i < arrays; ++i)
                list.push_back({blocks[i].data, blocks[i].count, blocks[i].block_bytes});
        });
        sluice::groups::agree_on_no_error(over.context.comm(), fault);
        fill(report, over.plan.apply(list));
    });
}

uint64_t sluice_plan_memory(sluice_plan const* plan) {
    return plan == nullptr ? 0 : plan->plan.memory().count;
}

int sluice_plan_free(sluice_plan** plan) {
    return free_handle(plan);
}

int sluice_report_create(sluice_report** report) {
    return new_handle(report, "report");
}

int sluice_report_free(sluice_report** report) {
    return free_handle(report);
}

double sluice_report_seconds(sluice_report const* report) {
    return report == nullptr ? 0 : report->report.seconds();
}
uint64_t sluice_report_blocks_sent(sluice_report const* report) {
    return report == nullptr ? 0 : report->report.blocks_sent;
}
uint64_t sluice_report_blocks_received(sluice_report const* report) {
    return report == nullptr ? 0 : report->report.blocks_received;
}
uint64_t sluice_report_blocks_local(sluice_report const* report) {
    return report == nullptr ? 0 : report->report.blocks_local;
}
uint64_t sluice_report_bytes_sent(sluice_report const* report) {
    return report == nullptr ? 0 : report->report.bytes_sent.count;
}
uint64_t sluice_report_bytes_received(sluice_report const* report) {
    return report == nullptr ? 0 : report->report.bytes_received.count;
}
uint64_t sluice_report_bytes_local(sluice_report const* report) {
    return report == nullptr ? 0 : report->report.bytes_local.count;
}
uint64_t sluice_report_rounds(sluice_report const* report) {
    return report == nullptr ? 0 : report->report.rounds;
}
uint64_t sluice_report_requests_peak(sluice_report const* report) {
    return report == nullptr ? 0 : report->report.requests_peak;
}
uint64_t sluice_report_extra_peak(sluice_report const* report) {
    return report == nullptr ? 0 : report->report.extra_peak.count;
}
char const* sluice_report_strategy(sluice_report const* report) {
    return report == nullptr ? "" : report->strategy.c_str();
}
char const* sluice_report_why(sluice_report const* report) {
    return report == nullptr ? "" : report->report.why.c_str();
}
char const* sluice_report_text(sluice_report const* report) {
    return report == nullptr ? "" : report->text.c_str();
}
size_t sluice_report_steps(sluice_report const* report) {
    return report == nullptr ? 0 : report->report.steps.size();
}
char const* sluice_report_step_name(sluice_report const* report, size_t which) {
    return which < sluice_report_steps(report) ? report->report.steps[which].first.c_str() : nullptr;
}
double sluice_report_step_seconds(sluice_report const* report, size_t which) {
    return which < sluice_report_steps(report) ? report->report.steps[which].second : 0;
}
