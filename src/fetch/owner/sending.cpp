// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/owner/sending.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/units.hpp"
#include "fetch/reader/receiving.hpp"
#include "sluice/error.hpp"

namespace sluice::fetch {

namespace {

Error fault(int rank, int reader, Name const& name, std::uint64_t bytes, std::string const& why) {
    return {ErrorCode::invalid_argument, "rank " + std::to_string(rank) + " sends id " + std::to_string(name.id) +
                                             " of epoch " + std::to_string(name.epoch) + " (" + std::to_string(bytes) +
                                             " bytes) to rank " + std::to_string(reader) + ", but " + why};
}

}  // namespace

std::optional<std::string> Sending::refusal(Name const& name) const {
    if (is_closed(name)) return "has closed the epochs up to " + std::to_string(*closed_);
    if (finished_) return "has finished";
    return std::nullopt;
}

void Sending::send(int reader, Name const& name, std::uint64_t bytes, Store::Packer const& pack) {
    int const rank = wire_->rank();
    if (reader < 0 || reader >= wire_->size())
        throw fault(rank, reader, name, bytes, "the context has ranks 0 to " + std::to_string(wire_->size() - 1));
    if (auto const why = refusal(name)) throw fault(rank, reader, name, bytes, "it " + *why);
    Address const to{reader, name};
    Parcel parcel = packed(reader, name, bytes, pack);
    // Checked again after packing, because `pack` may have sent it too.
    if (offered_.contains(to))
        throw fault(rank, reader, name, bytes, "it has already sent these data, which were not taken");
    if (controlled_)
        offer(to, std::move(parcel));
    else
        push(to, std::move(parcel));
    expected_.erase(to);
    ++sent_;
    sent_bytes_ += Bytes{bytes};
}

/// Phase 1: the application's request to send supplies its data.
Sending::Parcel Sending::packed(int reader, Name const& name, std::uint64_t bytes, Store::Packer const& pack) {
    Parcel parcel;
    parcel.bytes = bytes;
    parcel.memory = memory_->allocate(bytes);
    if (!parcel.memory)
        throw Error(ErrorCode::out_of_memory,
                    "rank " + std::to_string(wire_->rank()) + " sends id " + std::to_string(name.id) + " of epoch " +
                        std::to_string(name.epoch) + " to rank " + std::to_string(reader) + ": no memory for its " +
                        base::format_bytes(Bytes{bytes}) + ", in addition to " + base::format_bytes(packed_->held()) +
                        " packed for sends that have not left");
    parcel.tokens = packed_->take_beyond(1, Bytes{bytes});
    pack({parcel.memory.get(), bytes});
    if (checks_) parcel.hash = hash_of({parcel.memory.get(), bytes});
    return parcel;
}

/// Phase 2, controlled: the data stay here until their reader has tokens for them.
void Sending::offer(Address const& to, Parcel&& parcel) {
    std::uint64_t const bytes = parcel.bytes;
    auto const offered = offered_.emplace(to, std::move(parcel)).first;
    if (to.reader != wire_->rank()) {
        wire_->send(to.reader, {Kind::offer, 0, to.name, bytes});
        return;
    }
    try {
        receiving_->offered(to.reader, {Kind::offer, 0, to.name, bytes});
    } catch (std::bad_alloc const&) {
        offered_.erase(offered);
        throw;
    }
}

/// Phase 2, uncontrolled.
void Sending::push(Address const& to, Parcel&& parcel) {
    if (to.reader == wire_->rank()) {
        parcel.tokens.release();  // the reader counts them from now on
        receiving_->here({to.reader, to.name.id, to.name.epoch}, std::move(parcel.memory), parcel.bytes, parcel.hash);
        return;
    }
    std::uint64_t const bytes = parcel.bytes;
    DataHash const hash = parcel.hash;
    std::uint64_t const ticket = keep(parcel);
    wire_->send(to.reader, {Kind::push, 0, to.name, bytes}, text_of(hash));
    if (bytes > 0)
        start(to.reader, wire_->push_slot(), ticket);
    else
        leaving_.erase(ticket);
}

void Sending::take(int reader, Control const& control) {
    auto const at = offered_.find({reader, control.name});
    if (at == offered_.end())
        throw Error(ErrorCode::internal, "rank " + std::to_string(reader) + " takes from rank " +
                                             std::to_string(wire_->rank()) + " data that were not offered");
    if (reader != wire_->rank()) {
        DataHash const hash = at->second.hash;
        std::uint64_t const ticket = keep(at->second);
        offered_.erase(at);
        if (hash) wire_->send(reader, {Kind::hash, control.slot, control.name, *hash});
        start(reader, control.slot, ticket);
        return;
    }
    Parcel parcel = std::move(at->second);
    offered_.erase(at);
    parcel.tokens.release();  // the reader counts them from now on
    receiving_->handed_over(control.slot, std::move(parcel.memory), parcel.hash);
}

/// Takes the parcel, and all memory that its way to the wire needs, before its reader is told. Throws std::bad_alloc;
/// then the parcel is as it was.
std::uint64_t Sending::keep(Parcel& parcel) {
    if (!wire_->make_room(parcel.bytes)) throw std::bad_alloc();
    std::uint64_t const ticket = k_mine | next_ticket_++;
    leaving_.try_emplace(ticket).first->second = std::move(parcel);
    return ticket;
}

void Sending::start(int reader, std::uint32_t slot, std::uint64_t ticket) {
    Parcel const& parcel = leaving_.at(ticket);
    if (wire_->send_data(reader, slot, {parcel.memory.get(), parcel.bytes}, ticket)) leaving_.erase(ticket);
}

void Sending::tell_that_it_will_not(Address const& to) {
    std::string text;
    try {
        text = "it has not sent the data, and " + (given_up_.empty() ? refusal(to.name).value_or("will not")
                                                                     : "a task there threw an exception: " + given_up_);
    } catch (std::bad_alloc const&) {
        text = "no memory";  // short enough to need none
    }
    if (to.reader == wire_->rank())
        receiving_->unsent({to.reader, to.name.id, to.name.epoch}, text);
    else
        wire_->send(to.reader, {Kind::unsent, 0, to.name, 0}, text);
}

void Sending::expected(int reader, Name const& name) {
    Address const by{reader, name};
    if (!offered_.contains(by)) {  // otherwise they have crossed
        if (will_not_send(name))
            tell_that_it_will_not(by);
        else
            expected_.insert(by);
    }
    if (reader != wire_->rank()) wire_->send(reader, {Kind::noted, 0, name, 0});
}

void Sending::refuse_what_will_not_come() {
    for (auto at = expected_.begin(); at != expected_.end();) {
        if (!will_not_send(at->name)) {
            ++at;
            continue;
        }
        Address const by = *at;
        at = expected_.erase(at);
        tell_that_it_will_not(by);
    }
}

void Sending::close(std::uint64_t epoch) {
    closed_ = std::max(epoch, closed_.value_or(epoch));
    refuse_what_will_not_come();
}

void Sending::give_up(std::string const& why) {
    given_up_ = why;
    refuse_what_will_not_come();
}

void Sending::finish() {
    finished_ = true;
    refuse_what_will_not_come();
}

StoreReport Sending::figures() const {
    StoreReport report;
    report.sent = sent_;
    report.sent_bytes = sent_bytes_;
    report.packed_peak = packed_->peak();
    return report;
}

}  // namespace sluice::fetch
