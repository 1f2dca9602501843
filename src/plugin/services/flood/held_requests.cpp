// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/flood/held_requests.hpp"

#include <algorithm>
#include <new>

#include "plugin/binding/tally.hpp"
#include "plugin/services/job.hpp"
#include "plugin/services/requests/ticket.hpp"

namespace sluice::plugin {

namespace {

class HeldSend : public OwnedRequest {
  public:
    HeldSend(HeldRequests& held, bool persistent) : OwnedRequest(1, persistent), held_(held) {}
    void asked_inside() noexcept override { held_.release(handle()); }

  private:
    HeldRequests& held_;
};

/// Null without memory.
std::shared_ptr<HeldSend> make_held(HeldRequests& held) noexcept {
    try {
        return std::make_shared<HeldSend>(held, false);
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}

/// A persistent request. While it is held its part is the ticket, otherwise MPI's own.
class PersistentSend final : public HeldSend {
  public:
    PersistentSend(HeldRequests& held, MPI_Request own) : HeldSend(held, true), own_(own) { set_part(0, own); }
    int complete(std::span<Part const> parts) noexcept override {
        int const code = OwnedRequest::complete(parts);
        set_part(0, own_);
        return code;
    }

  private:
    MPI_Request own_;
};

}  // namespace

HeldRequests::Held* HeldRequests::place() noexcept {
    auto const free = std::find_if(all_.begin(), all_.end(), [](Held const& held) { return !held.hold; });
    return free == all_.end() ? nullptr : &*free;
}

/// A ticket, and the message is on its way. If a function of the program leaves MPI by an exception, the ticket stays
/// with MPI.
bool HeldRequests::begin(Call& call, Message const& message, Held& held) {
    if (start_ticket(held.ticket) != MPI_SUCCESS) return false;
    held.hold = control_.send(call, message);
    if (held.hold) return true;
    MPI_Grequest_complete(held.ticket);
    MPI_Request_free(&held.ticket);
    return false;
}

void HeldRequests::keep(Held& held, MPI_Request request) noexcept {
    held.request = request;
    held_.fetch_add(1, std::memory_order_release);
}

/// Whether none to a receiver is held. Asks MPI about the first one only: the others wait for marks that came after its
/// own, and there may be many of them at each send of a burst.
bool HeldRequests::has_room(int rank) {
    CallersLock const lock(changing_);
    for (;;) {
        Held* first = nullptr;
        for (Held& held : all_)
            if (held.hold && held.hold->rank == rank && (first == nullptr || held.hold->begin < first->hold->begin))
                first = &held;
        if (first == nullptr) return true;
        if (!control_.is_over(*first->hold)) return false;
        complete(*first);
    }
}

/// A share is with the receiver if another send to it is held.
void HeldRequests::wait_for_room(Call& call, Message const& message) {
    if (empty()) return;
    int const rank = control_.receiver_of(call, message);
    if (!has_room(rank)) control_.hold_burst(rank, [this, rank] { return !has_room(rank); });
}

bool HeldRequests::isend(Call& call, Message const& message, MPI_Request* request) {
    wait_for_room(call, message);
    CallersLock const lock(changing_);
    Held* const held = place();
    if (held == nullptr) return false;
    auto owned = make_held(*this);
    if (!owned || !begin(call, message, *held)) return false;
    owned->set_part(0, held->ticket);
    job_.owned.add(held->ticket, std::move(owned));
    *request = held->ticket;
    keep(*held, held->ticket);
    return true;
}

bool HeldRequests::start(Call& call, Message const& message, MPI_Request persistent) {
    wait_for_room(call, message);
    CallersLock const lock(changing_);
    Held* const held = place();
    if (held == nullptr) return false;
    auto owned = job_.owned.find(persistent);
    try {
        if (!owned) {
            owned = std::make_shared<PersistentSend>(*this, persistent);
            job_.owned.add(persistent, owned);
        }
    } catch (std::bad_alloc const&) {
        return false;
    }
    if (owned->active() || !begin(call, message, *held)) return false;
    owned->set_part(0, held->ticket);
    owned->start();
    keep(*held, persistent);
    return true;
}

void HeldRequests::complete(Held& held) noexcept {
    MPI_Request const ticket = held.ticket;
    held = Held();
    held_.fetch_sub(1, std::memory_order_release);
    MPI_Grequest_complete(ticket);
}

void HeldRequests::settle() {
    if (empty()) return;
    CallersLock const lock(changing_);
    for (Held& held : all_)
        if (held.hold && control_.is_over(*held.hold)) complete(held);
}

void HeldRequests::let_go(Held& held) noexcept {
    control_.release(*held.hold);
    complete(held);
}

void HeldRequests::release(MPI_Request request) noexcept {
    CallersLock const lock(changing_);
    for (Held& held : all_)
        if (held.hold && held.request == request) let_go(held);
}

void HeldRequests::release_all() noexcept {
    CallersLock const lock(changing_);
    for (Held& held : all_)
        if (held.hold) let_go(held);
}

bool HeldRequests::holds_any(MPI_Request const* requests, int count) const noexcept {
    if (empty() || requests == nullptr || count <= 0) return false;
    CallersLock const lock(changing_);
    return std::any_of(all_.begin(), all_.end(), [&](Held const& held) {
        return held.hold && std::find(requests, requests + count, held.request) != requests + count;
    });
}

HoldRule::Time HeldRequests::held_since() const noexcept {
    HoldRule::Time first = HoldRule::Time::max();
    CallersLock const lock(changing_);
    for (Held const& held : all_)
        if (held.hold) first = std::min(first, held.hold->begin);
    return first;
}

}  // namespace sluice::plugin
