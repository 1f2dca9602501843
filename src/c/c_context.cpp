// SPDX-License-Identifier: BSD-3-Clause
/// The functions of sluice/c/context.h.
#include "c/c_context.hpp"

#include <optional>
#include <string>
#include <utility>

#include "base/c_boundary.hpp"
#include "c/c_handles.hpp"
#include "c/c_options.hpp"
#include "c/c_report.hpp"
#include "engine/context_state.hpp"
#include "groups/agree.hpp"
#include "sluice/c/context.h"
#include "sluice/settings.hpp"

using sluice::Error;
using sluice::ErrorCode;
using sluice::base::c_boundary;
using sluice::c::existing;
using sluice::c::fault_in;
using sluice::c::free_handle;
using sluice::c::HandleMemory;
using sluice::c::invalid;
using sluice::c::looked_up;
using sluice::c::new_handle;
using sluice::c::report_of;

static_assert(SLUICE_SUCCESS == static_cast<int>(ErrorCode::success));
static_assert(SLUICE_INVALID_ARGUMENT == static_cast<int>(ErrorCode::invalid_argument));
static_assert(SLUICE_OUT_OF_MEMORY == static_cast<int>(ErrorCode::out_of_memory));
static_assert(SLUICE_MPI_ERROR == static_cast<int>(ErrorCode::mpi));
static_assert(SLUICE_UNSUPPORTED == static_cast<int>(ErrorCode::unsupported));
static_assert(SLUICE_INTERNAL == static_cast<int>(ErrorCode::internal));

char const* sluice_last_error(void) {
    return sluice::base::last_error_text();
}

char const* sluice_error_name(int code) {
    switch (code) {
        case SLUICE_SUCCESS:
            return "SLUICE_SUCCESS";
        case SLUICE_INVALID_ARGUMENT:
            return "SLUICE_INVALID_ARGUMENT";
        case SLUICE_OUT_OF_MEMORY:
            return "SLUICE_OUT_OF_MEMORY";
        case SLUICE_MPI_ERROR:
            return "SLUICE_MPI_ERROR";
        case SLUICE_UNSUPPORTED:
            return "SLUICE_UNSUPPORTED";
        case SLUICE_INTERNAL:
            return "SLUICE_INTERNAL";
        default:
            return "unknown code";
    }
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
    return free_handle(options, "options");
}

size_t sluice_setting_rows(void) {
    return sluice::setting_rows().size();
}

int sluice_setting_row(size_t which, sluice_report* row) {
    return c_boundary([&] {
        auto const rows = sluice::setting_rows();
        if (which >= rows.size())
            throw invalid("row " + std::to_string(which) + " of the settings does not exist; there are " +
                          std::to_string(rows.size()));
        existing(row, "row") = report_of(rows[which]);
    });
}

int sluice_context_create(MPI_Comm comm, sluice_options const* options, sluice_context** context) {
    return c_boundary([&] {
        sluice::Settings settings;
        HandleMemory<sluice_context> memory;
        std::optional<Error> const fault = fault_in([&] {
            existing(context, "context") = nullptr;
            memory.take();
            settings = sluice::Settings::from_environment();
            if (options == nullptr) return;
            for (auto const& [name, value] : existing(options, "options").values)
                settings.set(name, value);
        });
        // A rank with wrong settings or without memory makes the context all the same: without one it could not tell
        // the other ranks.
        sluice::Context made(comm, fault ? sluice::Settings() : settings);
        sluice::groups::agree_on_no_error(sluice::engine::ContextState::of(made).comm(), fault);
        *context = memory.make(std::move(made));
    });
}

int sluice_context_rank(sluice_context const* context) {
    sluice_context const* const of = looked_up(context, "context");
    return of == nullptr ? -1 : of->context.rank();
}

int sluice_context_size(sluice_context const* context) {
    sluice_context const* const of = looked_up(context, "context");
    return of == nullptr ? 0 : of->context.size();
}

int sluice_context_settings(sluice_context const* context, sluice_report* settings) {
    return c_boundary([&] {
        sluice::Context const& of = existing(context, "context").context;
        existing(settings, "settings") = report_of(of.settings());
    });
}

int sluice_context_free(sluice_context** context) {
    return free_handle(context, "context");
}
