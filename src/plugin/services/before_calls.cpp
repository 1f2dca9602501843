// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/before_calls.hpp"

#include "plugin/services/service.hpp"

namespace sluice::plugin {

void BeforeCalls::add(Service& service) noexcept {
    for (auto const& there : services_)
        if (there.load(std::memory_order_acquire) == &service) return;
    for (auto& place : services_) {
        Service* none = nullptr;
        if (!place.compare_exchange_strong(none, &service, std::memory_order_acq_rel)) continue;
        count_.fetch_add(1, std::memory_order_release);
        return;
    }
}

void BeforeCalls::remove(Service const& service) noexcept {
    for (auto& place : services_) {
        Service* there = const_cast<Service*>(&service);
        if (place.compare_exchange_strong(there, nullptr, std::memory_order_acq_rel))
            count_.fetch_sub(1, std::memory_order_release);
    }
}

void BeforeCalls::run(Call& call, TouchedBy const& touched) const {
    for (auto const& place : services_)
        if (Service* const service = place.load(std::memory_order_acquire)) service->before(call, touched);
}

void BeforeCalls::run_unwatched(Job& job, char const* function) const {
    for (auto const& place : services_)
        if (Service* const service = place.load(std::memory_order_acquire)) service->before_unwatched(job, function);
}

}  // namespace sluice::plugin
