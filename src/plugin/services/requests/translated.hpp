// SPDX-License-Identifier: BSD-3-Clause
/// The translation of each MPI function that takes requests, in the form that a chain runs after its last link. A
/// wrapper uses it only while a request is owned (some_owned_requests).
#pragma once

#include "plugin/binding/gate.hpp"
#include "plugin/services/requests/translation.hpp"

namespace sluice::plugin {

struct Job;

/// For a call from inside another one: whether it has to be translated. `job` may be null.
bool owns_some(Job const* job) noexcept;

/// The job that acts in a call that takes requests: where other calls pass, for requests that a service owns.
inline Job* acting_job_for_requests() noexcept {
    if (Job* const job = acting_job(); job != nullptr || is_inside()) return job;
    Job* const job = g_plugin.served.load(std::memory_order_acquire);
    return owns_some(job) ? job : nullptr;
}

/// The owned requests, for one call.
Owners owners_now(bool nested) noexcept;

template <class Translation>
int translated(bool nested, Translation const& translation) {
    Owners const owners = owners_now(nested);
    owners.poll();
    return translation(owners);
}

/// `nested`: the call came from inside another one, such as a callback of the program.
template <bool nested>
struct Translated {
#define SLUICE_TRANSLATED(function, name)                                                                         \
    static constexpr auto function = [](auto next, auto... all) {                                                 \
        return translated(nested, [&](Owners const& owners) { return translation::name(owners, next, all...); }); \
    }
    SLUICE_TRANSLATED(Wait, wait);
    SLUICE_TRANSLATED(Waitany, waitany);
    SLUICE_TRANSLATED(Waitall, waitall);
    SLUICE_TRANSLATED(Waitsome, some);
    SLUICE_TRANSLATED(Test, test);
    SLUICE_TRANSLATED(Testany, testany);
    SLUICE_TRANSLATED(Testall, testall);
    SLUICE_TRANSLATED(Testsome, some);
    SLUICE_TRANSLATED(Request_free, free_request);
    SLUICE_TRANSLATED(Request_get_status, get_status);
    SLUICE_TRANSLATED(Cancel, cancel);
    SLUICE_TRANSLATED(Start, start);
    SLUICE_TRANSLATED(Startall, startall);
    SLUICE_TRANSLATED(Pready, ready);
    SLUICE_TRANSLATED(Pready_range, ready_range);
    SLUICE_TRANSLATED(Pready_list, ready_list);
    SLUICE_TRANSLATED(Parrived, arrived);
#undef SLUICE_TRANSLATED
};

}  // namespace sluice::plugin
