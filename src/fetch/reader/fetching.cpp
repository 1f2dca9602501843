// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/reader/fetching.hpp"

#include <algorithm>
#include <utility>

#include "base/units.hpp"
#include "fetch/owner/sending.hpp"
#include "fetch/reader/direct_reads.hpp"
#include "sluice/error.hpp"

namespace sluice::fetch {

bool Fetching::open(std::shared_ptr<FetchSet> const& set) {
    ++open_sets_;
    set->buffers.resize(set->wants.size());
    for (FetchRequest const& want : set->wants) {
        if (want.key.owner >= 0 && want.key.owner < wire_->size()) continue;
        set->error = std::make_exception_ptr(Error(
            ErrorCode::invalid_argument, "rank " + std::to_string(wire_->rank()) + verb_of(*set) + text_of(want.key) +
                                             ", but the context has ranks 0 to " + std::to_string(wire_->size() - 1)));
        complete(set);
        return false;
    }
    return true;
}

void Fetching::post(std::shared_ptr<FetchSet> const& set) {
    if (!open(set)) return;
    set->missing = set->wants.size();
    if (set->missing == 0 || is_too_large(*set))
        complete(set);
    else if (!try_tentatively(set))
        ask(set);
}

/// Phase 1: tries a tentative fetch. The data need not exist yet.
bool Fetching::try_tentatively(std::shared_ptr<FetchSet> const& set) {
    if (tentative_ == nullptr) return false;
    for (FetchRequest const& want : set->wants)
        if (want.bytes == FetchRequest::k_any || !has_room(want, FlightWindow::Data::to_be_made)) return false;
    // Uses half of the slots, as of the tokens, so that fetches of existing data always find some.
    std::size_t const taken = slots_.size() - in_flight_ready_;
    if (taken + set->wants.size() > wire_->most_slots() / 2) return false;
    std::optional<budget::Tokens> tokens = tentative_->try_take(set->wants.size(), Bytes{set->bytes});
    if (!tokens) return false;
    set->tentative = true;
    set->tokens = *std::move(tokens);
    for (std::uint32_t i = 0; i < set->wants.size(); ++i)
        start({set, i});
    return true;
}

void Fetching::ask(std::shared_ptr<FetchSet> const& set) {
    for (std::uint32_t i = 0; i < set->wants.size(); ++i) {
        FetchRequest const& want = set->wants[i];
        tell_owner(want,
                   {Kind::ask, k_first_ask + asks_.add({set, i}), {want.key.id, want.key.epoch}, want.bytes.count});
    }
}

void Fetching::ready(std::uint32_t slot, std::uint64_t bytes) {
    Fetch const fetch = asks_.take(slot - k_first_ask);
    FetchRequest& want = fetch.set->wants[fetch.want];
    if (want.bytes == FetchRequest::k_any) want.bytes = {bytes};
    if (want.bytes.count != bytes)
        fail_fetch(fetch, "it has published " + std::to_string(bytes) + " bytes");
    else if (--fetch.set->missing == 0)
        enqueue(fetch.set);
}

/// Phase 2: all data of the set exist, and the set waits for its tokens.
void Fetching::enqueue(std::shared_ptr<FetchSet> const& set) {
    if (set->error || is_too_large(*set)) {
        complete(set);
        return;
    }
    set->missing = set->wants.size();
    queue_.push_back(set);
}

/// Only the sizes known so far count.
bool Fetching::is_too_large(FetchSet& set) const {
    set.bytes = 0;
    for (FetchRequest const& want : set.wants)
        if (want.bytes != FetchRequest::k_any) set.bytes += want.bytes.count;
    if (set.bytes <= most_bytes_.count) return false;
    set.error = std::make_exception_ptr(
        Error(ErrorCode::out_of_memory, "a fetch set of rank " + std::to_string(wire_->rank()) + " alone, " +
                                            std::to_string(set.wants.size()) + " fetches with a total of " +
                                            base::format_bytes(Bytes{set.bytes}) +
                                            ", exceeds the memory that this process may use, " +
                                            base::format_bytes(most_bytes_) + " (setting memory)"));
    return true;
}

bool Fetching::grant() {
    bool moved = false;
    issue();
    while (!queue_.empty() && to_issue_.empty()) {  // sets that the window holds back already have their tokens
        std::size_t const next = next_set();
        std::shared_ptr<FetchSet> const set = queue_[next];
        std::optional<budget::Tokens> tokens = tokens_->try_take(set->wants.size(), Bytes{set->bytes});
        if (!tokens) break;
        for (std::size_t i = 0; i < next; ++i)
            ++queue_[i]->passed_over;
        queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(next));
        give(set, *std::move(tokens));
        issue();
        moved = true;
    }
    return moved;
}

void Fetching::stall() {
    if (queue_.empty() || in_flight_ready_ > 0 || !to_issue_.empty()) return;
    std::shared_ptr<FetchSet> const set = queue_.front();
    queue_.pop_front();
    ++counts_.beyond;
    tokens_->widen();
    give(set, tokens_->take_beyond(set->wants.size(), Bytes{set->bytes}));
    issue();
}

void Fetching::give(std::shared_ptr<FetchSet> const& set, budget::Tokens tokens) {
    set->tokens = std::move(tokens);
    for (std::uint32_t i = 0; i < set->wants.size(); ++i)
        if (!set->buffers[i]) to_issue_.push_back({set, i});  // data pushed uncontrolled are already here
}

/// Fetches from this rank itself need no window.
bool Fetching::has_room(FetchRequest const& want, FlightWindow::Data data) {
    return want.key.owner == wire_->rank() || windows_.to(want.key.owner).has_room(want.bytes.count, data);
}

void Fetching::issue() {
    while (!to_issue_.empty()) {
        if (in_flight_ready_ >= wire_->most_slots() / 2) return;
        if (!has_room(to_issue_.front().set->wants[to_issue_.front().want], FlightWindow::Data::exist)) return;
        Fetch const fetch = std::move(to_issue_.front());
        to_issue_.pop_front();
        start(fetch);
    }
}

void Fetching::start(Fetch const& fetch) {
    if (fetch.set->pushed || !attach_to_what_is_here(fetch)) request(fetch);
}

/// Reuses data that another set has fetched or is fetching.
bool Fetching::attach_to_what_is_here(Fetch const& fetch) {
    FetchRequest const& want = fetch.set->wants[fetch.want];
    auto const at = here_.find(want.key);
    if (at == here_.end()) return false;
    std::shared_ptr<Buffer> const buffer = at->second.buffer.lock();
    if (!buffer) {
        here_.erase(at);
        return false;
    }
    if (buffer->bytes != want.bytes.count) return false;  // the owner will report the difference
    ++counts_.reused;
    fetch.set->tokens.split(want.bytes).release();
    if (buffer->complete) {
        tell_read_too(want.key);
        finish_fetch(fetch, buffer);
    } else {
        at->second.waiting.push_back(fetch);
    }
    return true;
}

/// Phase 2: the tentative fetch becomes a request.
void Fetching::request(Fetch const& fetch) {
    FetchRequest const& want = fetch.set->wants[fetch.want];
    std::uint32_t const number = slots_.add({.set = fetch.set, .want = fetch.want});
    counts_.most_on_their_way = std::max<std::uint64_t>(counts_.most_on_their_way, slots_.size());
    Slot& slot = slots_[number];
    slot.buffer = std::make_shared<Buffer>();
    slot.buffer->bytes = want.bytes.count;
    slot.buffer->tokens = fetch.set->tokens.split(want.bytes);
    slot.bytes = want.bytes.count;
    if (!fetch.set->tentative) ++in_flight_ready_;
    if (want.key.owner != wire_->rank())
        slot.departure = windows_.to(want.key.owner)
                             .depart(want.bytes.count, MPI_Wtime(),
                                     fetch.set->tentative ? FlightWindow::Data::to_be_made : FlightWindow::Data::exist);
    ++asked_of_[want.key.owner];
    Name const name{want.key.id, want.key.epoch};
    if (fetch.set->pushed) {
        tell_owner(want, {Kind::take, number, name, want.bytes.count});
        return;
    }
    if (Here& here = here_[want.key]; here.buffer.expired()) here.buffer = slot.buffer;
    if (here_.size() >= sweep_at_) sweep();
    if (reads_->may_read(want.key.owner, want.bytes.count))
        wire_->send(want.key.owner, {Kind::request_or_read, number, name, want.bytes.count},
                    {reinterpret_cast<char const*>(&reads_->mark()), sizeof reads_->mark()});
    else
        tell_owner(want, {Kind::request, number, name, want.bytes.count});
}

void Fetching::tell_owner(FetchRequest const& want, Control const& control) {
    if (want.key.owner != wire_->rank())
        wire_->send(want.key.owner, control);
    else if (control.kind == Kind::take)
        sending_->take(wire_->rank(), control);
    else
        serving_->receive(wire_->rank(), control);
}

/// Removes entries of freed data, so that the table has at most twice as many entries as there are live data.
void Fetching::sweep() {
    std::erase_if(here_, [](auto const& entry) { return entry.second.buffer.expired(); });
    sweep_at_ = std::max<std::size_t>(1024, 2 * here_.size());
}

/// Phase 6: allocates the buffer when the data arrive.
bool Fetching::make_room(Slot& slot) {
    if (slot.buffer->memory) return true;
    slot.buffer->memory = memory_->allocate(slot.bytes);
    if (!slot.buffer->memory) ++counts_.retried;
    return slot.buffer->memory != nullptr;
}

std::span<std::byte> Fetching::room_for(std::uint32_t slot, std::uint64_t bytes) {
    if (!make_room(slots_[slot])) return {};
    return {slots_[slot].buffer->memory.get(), bytes};
}

void Fetching::local_complete(std::uint32_t slot) {
    ++counts_.fetched_here;
    finish_slot(slot);
}

void Fetching::read_complete(std::uint32_t slot) {
    slots_[slot].complete = slots_[slot].bytes;
    ++counts_.fetched;
    finish_slot(slot);
}

void Fetching::handed_over(std::uint32_t slot, memory::BufferMemory::Block&& memory) {
    slots_[slot].buffer->memory = std::move(memory);
    finish_slot(slot);
}

bool Fetching::arrived(int peer, std::uint32_t slot, std::size_t bytes) {
    if (!slots_.has_given(slot) || !slots_[slot].set || slots_[slot].received + bytes > slots_[slot].bytes)
        throw Error(ErrorCode::internal, "rank " + std::to_string(wire_->rank()) + " got " + std::to_string(bytes) +
                                             " bytes from rank " + std::to_string(peer) + " that it did not request");
    Slot& taken = slots_[slot];
    if (!make_room(taken)) return false;
    std::uint64_t const at = taken.received;
    taken.received += bytes;
    if (wire_->receive_data(peer, slot, {taken.buffer->memory.get() + at, bytes})) piece_complete(slot, bytes);
    return true;
}

void Fetching::piece_complete(std::uint32_t slot, std::size_t bytes) {
    Slot& taken = slots_[slot];
    taken.complete += bytes;
    if (taken.complete < taken.bytes) return;
    if (!taken.set->pushed) ++counts_.fetched;
    finish_slot(slot);
}

void Fetching::no_longer_in_flight(Slot const& slot) {
    if (!slot.set->tentative) --in_flight_ready_;
    int const owner = slot.set->wants[slot.want].key.owner;
    if (owner != wire_->rank()) {
        FlightWindow& window = windows_.to(owner);
        if (slot.complete == slot.bytes)
            window.arrive(slot.departure, slot.bytes, MPI_Wtime());
        else
            window.lose(slot.departure, slot.bytes);
    }
    auto const asked = asked_of_.find(owner);
    if (--asked->second == 0) asked_of_.erase(asked);
}

void Fetching::finish_slot(std::uint32_t slot) {
    Slot const taken = slots_.take(slot);
    FetchRequest const& want = taken.set->wants[taken.want];
    no_longer_in_flight(taken);
    taken.buffer->complete = true;
    if (taken.set->pushed) {
        ++counts_.received;
        counts_.received_bytes += Bytes{taken.bytes};
        finish_fetch({taken.set, taken.want}, taken.buffer);
        return;
    }
    counts_.fetched_bytes += Bytes{taken.bytes};
    std::vector<Fetch> waiting;
    if (auto const here = here_.find(want.key); here != here_.end() && here->second.buffer.lock() == taken.buffer)
        waiting = std::move(here->second.waiting);
    finish_fetch({taken.set, taken.want}, taken.buffer);
    for (Fetch const& fetch : waiting)
        finish_fetch(fetch, taken.buffer);
    for (std::size_t i = 0; i < waiting.size(); ++i)
        tell_read_too(want.key);
}

/// Tells the owner that one more reader has the data, without another message of data.
void Fetching::tell_read_too(Key const& key) {
    Name const name{key.id, key.epoch};
    if (key.owner == wire_->rank())
        serving_->read_too(name);
    else
        wire_->send(key.owner, {Kind::read_too, 0, name, 0});
}

void Fetching::finish_fetch(Fetch const& fetch, std::shared_ptr<Buffer> buffer) {
    fetch.set->buffers[fetch.want] = std::move(buffer);
    if (--fetch.set->missing == 0) complete(fetch.set);
}

void Fetching::refused(std::uint32_t slot, std::string const& text) {
    if (slot >= k_first_ask) {
        fail_fetch(asks_.take(slot - k_first_ask), text);
        return;
    }
    Slot const taken = slots_.take(slot);
    Key const key = taken.set->wants[taken.want].key;
    no_longer_in_flight(taken);
    std::vector<Fetch> waiting;
    if (auto const here = here_.find(key); here != here_.end() && here->second.buffer.lock() == taken.buffer) {
        waiting = std::move(here->second.waiting);
        here_.erase(here);
    }
    fail_fetch({taken.set, taken.want}, text);
    for (Fetch const& fetch : waiting)
        fail_fetch(fetch, text);
}

void Fetching::fail_fetch(Fetch const& fetch, std::string const& text) {
    fail(*fetch.set, fetch.want, wire_->rank(), text);
    if (--fetch.set->missing == 0) complete(fetch.set);
}

void Fetching::complete(std::shared_ptr<FetchSet> const& set) {
    set->tokens.release();
    complete_.push_back(set);
    set->complete = true;
}

bool Fetching::call_back() {
    std::size_t const number = complete_.size();  // sets that these callbacks post are handled next time
    for (std::size_t i = 0; i < number; ++i) {
        std::shared_ptr<FetchSet> const set = std::move(complete_.front());
        complete_.pop_front();
        --open_sets_;
        ++counts_.sets;
        if (set->error || set->abandoned) set->buffers.clear();
        if (set->done)
            set->done(set->take(), set->error);
        else
            set->resume();
    }
    return number > 0;
}

}  // namespace sluice::fetch
