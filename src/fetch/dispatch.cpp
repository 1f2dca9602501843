// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/dispatch.hpp"

namespace sluice::fetch {

void Dispatch::control_from(int peer, Control const& control, std::string_view text) {
    switch (control.kind) {
        case Kind::request:
        case Kind::ask:
            serving_->receive(peer, control);
            break;
        case Kind::request_or_read: {
            Control request = control;
            if (!reads_->may_point(text)) request.kind = Kind::request;
            serving_->receive(peer, request);
            break;
        }
        case Kind::lies_at:
            reads_->add(peer, control.slot, control.bytes, text);
            break;
        case Kind::has_read:
            serving_->has_read(control.bytes);
            break;
        case Kind::cannot_read:
            serving_->cannot_read(control.bytes);
            break;
        case Kind::ready:
            fetching_->ready(control.slot, control.bytes);
            break;
        case Kind::refuse:
            fetching_->refused(control.slot, static_cast<ErrorCode>(control.bytes), text);
            break;
        case Kind::read_too:
            serving_->read_too(control.name);
            break;
        case Kind::hash:
            fetching_->expect_hash(control.slot, control.bytes);
            break;
        case Kind::differs:
            faults_->add(fetching_->rank(), peer, control.name, control.slot != 0);
            break;
        case Kind::offer:
            receiving_->offered(peer, control);
            break;
        case Kind::take:
            sending_->take(peer, control);
            break;
        case Kind::push:
            receiving_->pushed(peer, control, hash_in(text));
            break;
        case Kind::expect:
            sending_->expected(peer, control.name);
            break;
        case Kind::unsent:
            receiving_->unsent({peer, control.name.id, control.name.epoch}, text);
            break;
        case Kind::noted:
            receiving_->noted();
            break;
        case Kind::ask_state:
            serving_->tell_state(peer, control.name);
            break;
        case Kind::state:
            waits_->answered(static_cast<LongWaits::State>(control.bytes));
            break;
        case Kind::last:
            break;  // receiving it is all that its sender needs
    }
}

bool Dispatch::data_from(int peer, std::uint32_t slot, std::size_t bytes) {
    return slot == receiving_->slot() ? receiving_->arrived(peer, bytes) : fetching_->arrived(peer, slot, bytes);
}

void Dispatch::data_complete(std::uint32_t slot, std::size_t bytes) {
    if (slot >= Receiving::k_first_arrival)
        receiving_->piece_complete(slot, bytes);
    else
        fetching_->piece_complete(slot, bytes);
}

void Dispatch::sent(std::uint64_t ticket) {
    if (Sending::is_mine(ticket))
        sending_->sent(ticket);
    else
        serving_->sent(ticket);
}

}  // namespace sluice::fetch
