// SPDX-License-Identifier: BSD-3-Clause
/// The functions of sluice/c/budget.h.
#include "sluice/c/budget.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/c_boundary.hpp"
#include "c/c_context.hpp"
#include "c/c_handles.hpp"
#include "c/c_report.hpp"
#include "sluice/budget.hpp"

using sluice::Bytes;
using sluice::Purpose;
using sluice::base::c_boundary;
using sluice::c::existing;
using sluice::c::free_handle;
using sluice::c::invalid;
using sluice::c::looked_up;
using sluice::c::NewHandle;
using sluice::c::report_of;

struct sluice_budget {
    static constexpr sluice::c::HandleKind k_kind = sluice::c::HandleKind::budget;
    sluice::Budget budget;
};
struct sluice_lease {
    static constexpr sluice::c::HandleKind k_kind = sluice::c::HandleKind::lease;
    sluice::Lease lease;
};

static_assert(SLUICE_PURPOSE_STAGING == static_cast<int>(Purpose::staging));
static_assert(SLUICE_PURPOSE_BOOKKEEPING == static_cast<int>(Purpose::bookkeeping));
static_assert(SLUICE_PURPOSE_RING == static_cast<int>(Purpose::ring));
static_assert(SLUICE_PURPOSE_FETCHED == static_cast<int>(Purpose::fetched));
static_assert(SLUICE_PURPOSE_SERVED == static_cast<int>(Purpose::served));
static_assert(SLUICE_PURPOSE_PAGED == static_cast<int>(Purpose::paged));
static_assert(SLUICE_PURPOSE_OTHER == static_cast<int>(Purpose::other));
static_assert(SLUICE_PURPOSE_REGISTERED == static_cast<int>(Purpose::registered));

namespace {

sluice::Budget& budget_of(sluice_budget* budget) {
    return existing(budget, "budget").budget;
}

Purpose purpose_of(int purpose) {
    if (purpose < SLUICE_PURPOSE_STAGING || purpose > SLUICE_PURPOSE_REGISTERED)
        throw invalid(std::to_string(purpose) + " is no purpose of a lease");
    return static_cast<Purpose>(purpose);
}

}  // namespace

int sluice_context_budget(sluice_context* context, sluice_budget** budget) {
    return c_boundary([&] {
        sluice_budget*& place = existing(budget, "budget");
        place = nullptr;
        place = NewHandle<sluice_budget>(existing(context, "context").context.budget()).release();
    });
}

int sluice_budget_create(uint64_t limit, sluice_budget** budget) {
    return c_boundary([&] {
        sluice_budget*& place = existing(budget, "budget");
        place = nullptr;
        place = NewHandle<sluice_budget>(sluice::Budget(Bytes{limit})).release();
    });
}

int sluice_budget_free(sluice_budget** budget) {
    return free_handle(budget, "budget");
}

int sluice_budget_try_lease(sluice_budget* budget, uint64_t bytes, int purpose, sluice_lease** lease) {
    return c_boundary([&] {
        sluice_lease*& place = existing(lease, "lease");
        place = nullptr;
        sluice::Budget& from = budget_of(budget);
        NewHandle<sluice_lease> handle;
        std::optional<sluice::Lease> taken = from.try_lease(Bytes{bytes}, purpose_of(purpose));
        if (!taken) return;
        handle->lease = *std::move(taken);
        place = handle.release();
    });
}

int sluice_budget_lease_beyond(sluice_budget* budget, uint64_t bytes, int purpose, sluice_lease** lease) {
    return c_boundary([&] {
        sluice_lease*& place = existing(lease, "lease");
        place = nullptr;
        sluice::Budget& from = budget_of(budget);
        NewHandle<sluice_lease> handle;
        handle->lease = from.lease_beyond(Bytes{bytes}, purpose_of(purpose));
        place = handle.release();
    });
}

int sluice_budget_when_free(sluice_budget* budget, uint64_t bytes, int purpose, sluice_lease_function go, void* user) {
    return c_boundary([&] {
        sluice::Budget& from = budget_of(budget);
        if (go == nullptr) throw invalid("the lease function is NULL");
        // The handle is allocated now, because the callback cannot fail.
        auto const handle = std::make_shared<NewHandle<sluice_lease>>();
        from.when_free(Bytes{bytes}, purpose_of(purpose), [go, user, handle](sluice::Lease lease) {
            (*handle)->lease = std::move(lease);
            go(user, handle->release());
        });
    });
}

int sluice_budget_set_limit(sluice_budget* budget, uint64_t limit) {
    return c_boundary([&] { budget_of(budget).set_limit(Bytes{limit}); });
}

int sluice_budget_reset_peak(sluice_budget* budget) {
    return c_boundary([&] { budget_of(budget).reset_peak(); });
}

int sluice_budget_add_resident(sluice_budget* budget, uint64_t bytes) {
    return c_boundary([&] { budget_of(budget).add_resident(Bytes{bytes}); });
}

int sluice_budget_remove_resident(sluice_budget* budget, uint64_t bytes) {
    return c_boundary([&] { budget_of(budget).remove_resident(Bytes{bytes}); });
}

int sluice_budget_report(sluice_budget const* budget, sluice_report* report) {
    return c_boundary([&] { existing(report, "report") = report_of(existing(budget, "budget").budget); });
}

uint64_t sluice_lease_bytes(sluice_lease const* lease) {
    sluice_lease const* const of = looked_up(lease, "lease");
    return of == nullptr ? 0 : of->lease.amount().count;
}

int sluice_lease_split(sluice_lease* lease, uint64_t bytes, sluice_lease** part) {
    return c_boundary([&] {
        sluice_lease*& place = existing(part, "part");
        place = nullptr;
        sluice::Lease& whole = existing(lease, "lease").lease;
        NewHandle<sluice_lease> handle;
        handle->lease = whole.split(Bytes{bytes});
        place = handle.release();
    });
}

int sluice_lease_free(sluice_lease** lease) {
    return free_handle(lease, "lease");
}

int sluice_detect_memory_limit(uint64_t setting, sluice_report* report) {
    return c_boundary([&] { existing(report, "report") = report_of(sluice::detect_memory_limit(Bytes{setting})); });
}
