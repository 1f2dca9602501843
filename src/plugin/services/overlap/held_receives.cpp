// SPDX-License-Identifier: BSD-3-Clause
/// The nonblocking receives that MPI does not have yet: DeferredReceives, up to their match.
#include <algorithm>

#include "plugin/services/overlap/deferred_receives.hpp"
#include "plugin/services/overlap/receive_ticket.hpp"

namespace sluice::plugin {

void DeferredReceives::hold(DeferredReceive& receive) noexcept {
    receive.order = ++posted_;
    receive.returned.store(false, std::memory_order_relaxed);
    receive.arrival = {};
    receive.pages = {};
    receive.moving_pages = {};
    receive.bytes = receive.room;
    receive.code = MPI_SUCCESS;
    is_under_way(receive, DeferredReceive::Stage::held);
}

bool DeferredReceives::holds_for(Envelope const& later) const noexcept {
    return std::any_of(receives_.begin(), receives_.end(), [&](auto const& receive) {
        return receive.is(DeferredReceive::Stage::held) && receive.envelope.meets(later);
    });
}

bool DeferredReceives::comes_after_another(DeferredReceive const& receive) const noexcept {
    return std::any_of(receives_.begin(), receives_.end(), [&](auto const& other) {
        return other.is(DeferredReceive::Stage::held) && other.order < receive.order &&
               other.envelope.meets(receive.envelope);
    });
}

DeferredReceive* DeferredReceives::first_held() noexcept {
    DeferredReceive* first = nullptr;
    for (DeferredReceive& receive : receives_)
        if (receive.is(DeferredReceive::Stage::held) && (first == nullptr || receive.order < first->order))
            first = &receive;
    return first;
}

void DeferredReceives::post_held() {
    while (DeferredReceive* const receive = first_held())
        post(*receive);
}

/// Errors are fatal on its communicator, so a call that fails does not return.
void DeferredReceives::post(DeferredReceive& receive) {
    MPI_Irecv(receive.buffer, receive.count, receive.type, receive.envelope.source, receive.envelope.tag,
              receive.envelope.comm, &receive.request);
    receive.stage.store(DeferredReceive::Stage::in_place, std::memory_order_release);
}

void DeferredReceives::match(DeferredReceive& receive) {
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    Envelope const& wanted = receive.envelope;
    if (MPI_Improbe(wanted.source, wanted.tag, wanted.comm, &found, &message, &receive.status) != MPI_SUCCESS ||
        found == 0)
        return;
    receive.since = Clock::now();
    receive.waited = waiting_.until(receive.since);
    MPI_Count bytes = 0;
    MPI_Get_elements_x(&receive.status, MPI_BYTE, &bytes);
    receive.bytes = static_cast<std::uint64_t>(bytes);
    bool const aside = receive.bytes <= receive.room && listener_.takes_aside(receive);
    std::byte* const into = aside ? receive.pages.aside + (receive.buffer - receive.pages.pages) : receive.buffer;
    MPI_Imrecv(into, receive.count, receive.type, &message, &receive.request);
    receive.stage.store(aside ? DeferredReceive::Stage::moving : DeferredReceive::Stage::in_place,
                        std::memory_order_release);
}

bool DeferredReceives::has_to_complete(MPI_Request const* requests, int n) const noexcept {
    if (requests == nullptr || n <= 0) return false;
    return std::any_of(receives_.begin(), receives_.end(), [&](DeferredReceive const& receive) {
        return receive.ticket != MPI_REQUEST_NULL && !receive.is(DeferredReceive::Stage::unused) &&
               !receive.is(DeferredReceive::Stage::landed) &&
               std::find(requests, requests + n, receive.ticket) != requests + n;
    });
}

void DeferredReceives::return_matched(MPI_Request const* requests, int n) noexcept {
    if (requests == nullptr || n <= 0) return;
    for (DeferredReceive& receive : receives_) {
        if (!receive.is(DeferredReceive::Stage::moving) || receive.returned.load(std::memory_order_relaxed)) continue;
        if (std::find(requests, requests + n, receive.ticket) == requests + n) continue;
        receive.returned.store(true, std::memory_order_relaxed);
        complete_ticket(receive);
    }
}

}  // namespace sluice::plugin
