// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/owner/sending.hpp"

#include <algorithm>
#include <utility>
#include <vector>

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
    if (closed_ && name.epoch <= *closed_) return "has closed the epochs up to " + std::to_string(*closed_);
    if (finished_) return "has finished";
    return std::nullopt;
}

std::optional<std::string> Sending::absence(Name const& name) const {
    if (given_up_.empty()) return refusal(name);
    return "a task there threw an exception: " + given_up_;
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
    expected_.erase(to);
    ++sent_;
    sent_bytes_ += Bytes{bytes};
    if (controlled_)
        offer(to, std::move(parcel));
    else
        push(to, std::move(parcel));
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
    offered_.emplace(to, std::move(parcel));
    if (to.reader == wire_->rank())
        receiving_->offered(to.reader, {Kind::offer, 0, to.name, bytes});
    else
        wire_->send(to.reader, {Kind::offer, 0, to.name, bytes});
}

/// Phase 2, uncontrolled.
void Sending::push(Address const& to, Parcel&& parcel) {
    if (to.reader == wire_->rank()) {
        parcel.tokens.release();  // the reader counts them from now on
        receiving_->here({to.reader, to.name.id, to.name.epoch}, std::move(parcel.memory), parcel.bytes, parcel.hash);
        return;
    }
    wire_->send(to.reader, {Kind::push, 0, to.name, parcel.bytes}, text_of(parcel.hash));
    if (parcel.bytes > 0) start(to.reader, wire_->push_slot(), std::move(parcel));
}

void Sending::take(int reader, Control const& control) {
    auto const at = offered_.find({reader, control.name});
    if (at == offered_.end())
        throw Error(ErrorCode::internal, "rank " + std::to_string(reader) + " takes from rank " +
                                             std::to_string(wire_->rank()) + " data that were not offered");
    Parcel parcel = std::move(at->second);
    offered_.erase(at);
    if (reader != wire_->rank()) {
        if (parcel.hash) wire_->send(reader, {Kind::hash, control.slot, control.name, *parcel.hash});
        start(reader, control.slot, std::move(parcel));
        return;
    }
    parcel.tokens.release();  // the reader counts them from now on
    receiving_->handed_over(control.slot, std::move(parcel.memory), parcel.hash);
}

void Sending::start(int reader, std::uint32_t slot, Parcel&& parcel) {
    std::uint64_t const ticket = k_mine | next_ticket_++;
    std::byte const* const data = parcel.memory.get();
    std::uint64_t const bytes = parcel.bytes;
    leaving_.emplace(ticket, std::move(parcel));
    if (wire_->send_data(reader, slot, {data, bytes}, ticket)) leaving_.erase(ticket);
}

void Sending::tell(Address const& to, std::string const& text) {
    std::string const whole = "it has not sent the data, and " + text;
    if (to.reader == wire_->rank())
        receiving_->unsent({to.reader, to.name.id, to.name.epoch}, whole);
    else
        wire_->send(to.reader, {Kind::unsent, 0, to.name, 0}, whole);
}

void Sending::expected(int reader, Name const& name) {
    Address const by{reader, name};
    bool const crossed = offered_.contains(by);
    auto const why = absence(name);
    if (why && !crossed) tell(by, *why);
    if (!why && !crossed) expected_.insert(by);
    if (reader != wire_->rank()) wire_->send(reader, {Kind::noted, 0, name, 0});
}

void Sending::refuse_what_will_not_come() {
    std::vector<Address> over;
    for (Address const& by : expected_)
        if (absence(by.name)) over.push_back(by);
    for (Address const& by : over) {
        expected_.erase(by);
        tell(by, *absence(by.name));
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
