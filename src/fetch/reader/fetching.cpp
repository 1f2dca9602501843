// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/reader/fetching.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include "base/units.hpp"
#include "fetch/owner/sending.hpp"
#include "fetch/reader/direct_reads.hpp"
#include "sluice/error.hpp"

namespace sluice::fetch {

bool Fetching::open(std::shared_ptr<FetchSet> const& set) {
    set->buffers.resize(set->wants.size());
    set->place = open_.insert(open_.end(), set);
    ++open_sets_;
    if (set->done) ++callbacks_;
    for (FetchRequest const& want : set->wants) {
        if (want.key.owner >= 0 && want.key.owner < wire_->size()) continue;
        set_error(*set, [&] {
            return Error(ErrorCode::invalid_argument, "rank " + std::to_string(wire_->rank()) + verb_of(*set) +
                                                          text_of(want.key) + ", but the context has ranks 0 to " +
                                                          std::to_string(wire_->size() - 1));
        });
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
        if (want.bytes == FetchRequest::k_any || !in_flight_.has_room(want, FlightWindow::Data::to_be_made))
            return false;
    if (!in_flight_.has_tentative_slots(set->wants.size())) return false;
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
        try {
            std::uint32_t const number = k_first_ask + asks_.add({set, i});
            tell_owner(want, {Kind::ask, number, {want.key.id, want.key.epoch}, want.bytes.count});
        } catch (std::bad_alloc const&) {
            lack_memory({set, i});
        }
    }
}

void Fetching::ready(std::uint32_t slot, std::uint64_t bytes) {
    Fetch const fetch = asks_.take(slot - k_first_ask);
    FetchRequest& want = fetch.request();
    if (want.bytes == FetchRequest::k_any) want.bytes = {bytes};
    if (want.bytes.count != bytes) {
        std::array<char, 48> text;
        std::snprintf(text.data(), text.size(), "it has published %" PRIu64 " bytes", bytes);
        fail_fetch(fetch, ErrorCode::invalid_argument, text.data());
    } else if (--fetch.set->missing == 0) {
        enqueue(fetch.set);
    }
}

/// Phase 2: all data of the set exist, and the set waits for its tokens.
void Fetching::enqueue(std::shared_ptr<FetchSet> const& set) {
    if (set->error || is_too_large(*set)) {
        complete(set);
        return;
    }
    set->missing = set->wants.size();
    queue_.add(open_, *set);
}

/// Only the sizes known so far count.
bool Fetching::is_too_large(FetchSet& set) const {
    set.bytes = 0;
    for (FetchRequest const& want : set.wants)
        if (want.bytes != FetchRequest::k_any) set.bytes += want.bytes.count;
    if (set.bytes <= most_bytes_.count) return false;
    set_error(set, [&] {
        return Error(ErrorCode::out_of_memory, "a fetch set of rank " + std::to_string(wire_->rank()) + " alone, " +
                                                   std::to_string(set.wants.size()) + " fetches with a total of " +
                                                   base::format_bytes(Bytes{set.bytes}) +
                                                   ", exceeds the memory that this process may use, " +
                                                   base::format_bytes(most_bytes_) + " (setting memory)");
    });
    return true;
}

bool Fetching::grant() {
    bool moved = false;
    issue();
    while (!queue_.is_empty() && granted_.empty()) {  // sets that the window holds back already have their tokens
        FetchSet& set = queue_.next();
        std::optional<budget::Tokens> tokens = tokens_->try_take(set.wants.size(), Bytes{set.bytes});
        if (!tokens) break;
        give(set, *std::move(tokens));
        issue();
        moved = true;
    }
    return moved;
}

void Fetching::stall() {
    // The helper thread may have completed a set since the rank's last look; its task runs next and gives tokens back.
    if (queue_.is_empty() || in_flight_.has_existing() || !granted_.empty() || !complete_.empty()) return;
    FetchSet& set = queue_.front();
    ++counts_.beyond;
    tokens_->widen();
    give(set, tokens_->take_beyond(set.wants.size(), Bytes{set.bytes}));
    issue();
}

void Fetching::give(FetchSet& set, budget::Tokens tokens) noexcept {
    set.tokens = std::move(tokens);
    queue_.give(set, granted_);
}

/// The set of the last fetch leaves the list before that starts, because it may be complete at once.
std::optional<Fetch> Fetching::next_to_issue() noexcept {
    while (!granted_.empty()) {
        std::shared_ptr<FetchSet> const set = granted_.front();
        auto const is_here = [&] { return set->buffers[set->next_to_issue] != nullptr; };  // pushed uncontrolled
        while (set->next_to_issue < set->wants.size() && is_here())
            ++set->next_to_issue;
        if (set->next_to_issue < set->wants.size()) return Fetch{set, set->next_to_issue};
        open_.splice(open_.end(), granted_, set->place);
    }
    return std::nullopt;
}

void Fetching::issue() {
    while (std::optional<Fetch> const fetch = next_to_issue()) {
        if (!in_flight_.has_slot()) return;
        if (!in_flight_.has_room(fetch->request(), FlightWindow::Data::exist)) return;
        ++fetch->set->next_to_issue;
        static_cast<void>(next_to_issue());
        start(*fetch);
    }
}

void Fetching::start(Fetch const& fetch) {
    try {
        if (fetch.set->pushed || !share(fetch)) request(fetch);
    } catch (std::bad_alloc const&) {
        lack_memory(fetch);
    }
}

/// Reuses data that another set has fetched or is fetching.
bool Fetching::share(Fetch const& fetch) {
    FetchRequest const& want = fetch.request();
    std::shared_ptr<Buffer> const buffer = shared_.find(want.key);
    if (!buffer || buffer->bytes != want.bytes.count) return false;  // the owner will report a difference
    if (!buffer->complete) shared_.wait(fetch);
    ++counts_.reused;
    fetch.set->tokens.split(want.bytes).release();
    if (buffer->complete) {
        tell_read_too(want.key);
        finish_fetch(fetch, buffer);
    }
    return true;
}

/// Phase 2: the tentative fetch becomes a request. All memory is taken before the owner is told.
void Fetching::request(Fetch const& fetch) {
    FetchRequest const& want = fetch.request();
    auto const buffer = std::make_shared<Buffer>();
    buffer->bytes = want.bytes.count;
    buffer->tokens = fetch.set->tokens.split(want.bytes);
    std::uint32_t const number = in_flight_.depart(fetch, buffer);
    if (!fetch.set->pushed) try {
            shared_.add(want.key, buffer);
        } catch (std::bad_alloc const&) {
            in_flight_.take(number);
            throw;
        }
    counts_.most_on_their_way = std::max<std::uint64_t>(counts_.most_on_their_way, in_flight_.size());
    Name const name{want.key.id, want.key.epoch};
    if (fetch.set->pushed) {
        tell_owner(want, {Kind::take, number, name, want.bytes.count});
        return;
    }
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

/// Phase 6: allocates the buffer when the data arrive.
bool Fetching::make_room(Buffer& buffer) {
    if (buffer.memory) return true;
    buffer.memory = memory_->allocate(buffer.bytes);
    if (!buffer.memory) ++counts_.retried;
    return buffer.memory != nullptr;
}

std::span<std::byte> Fetching::room_for(std::uint32_t slot, std::uint64_t bytes) {
    Buffer& buffer = *in_flight_[slot].buffer;
    if (!make_room(buffer)) return {};
    return {buffer.memory.get(), bytes};
}

void Fetching::local_complete(std::uint32_t slot) {
    ++counts_.fetched_here;
    finish_slot(slot);
}

void Fetching::read_complete(std::uint32_t slot) {
    in_flight_[slot].complete = in_flight_[slot].buffer->bytes;
    ++counts_.fetched;
    finish_slot(slot);
}

void Fetching::handed_over(std::uint32_t slot, memory::BufferMemory::Block&& memory) {
    in_flight_[slot].buffer->memory = std::move(memory);
    finish_slot(slot);
}

bool Fetching::arrived(int peer, std::uint32_t slot, std::size_t bytes) {
    if (!in_flight_.expects(slot, bytes))
        throw Error(ErrorCode::internal, "rank " + std::to_string(wire_->rank()) + " got " + std::to_string(bytes) +
                                             " bytes from rank " + std::to_string(peer) + " that it did not request");
    InFlight::Slot& taken = in_flight_[slot];
    if (!make_room(*taken.buffer)) return false;
    std::uint64_t const at = taken.received;
    taken.received += bytes;
    if (wire_->receive_data(peer, slot, {taken.buffer->memory.get() + at, bytes})) piece_complete(slot, bytes);
    return true;
}

void Fetching::piece_complete(std::uint32_t slot, std::size_t bytes) {
    InFlight::Slot& taken = in_flight_[slot];
    taken.complete += bytes;
    if (taken.complete < taken.buffer->bytes) return;
    if (!taken.fetch.set->pushed) ++counts_.fetched;
    finish_slot(slot);
}

void Fetching::finish_slot(std::uint32_t slot) {
    InFlight::Slot const taken = in_flight_.take(slot);
    Bytes const bytes{taken.buffer->bytes};
    if (!is_as_published(taken)) {
        fail_changed(taken);
        return;
    }
    taken.buffer->complete = true;
    if (taken.fetch.set->pushed) {
        ++counts_.received;
        counts_.received_bytes += bytes;
        finish_fetch(taken.fetch, taken.buffer);
        return;
    }
    counts_.fetched_bytes += bytes;
    Key const key = taken.fetch.request().key;
    std::vector<Fetch> const waiting = shared_.take_waiting(key, taken.buffer);
    finish_fetch(taken.fetch, taken.buffer);
    for (Fetch const& fetch : waiting)
        finish_fetch(fetch, taken.buffer);
    for (std::size_t i = 0; i < waiting.size(); ++i)
        tell_read_too(key);
}

bool Fetching::is_as_published(InFlight::Slot const& taken) {
    if (!taken.hash) return true;
    ++counts_.compared;
    return !differs(taken.hash, {taken.buffer->memory.get(), taken.buffer->bytes});
}

/// The data are not those that were published or sent. Their owner counts the readers, whose fetches fail, as served.
void Fetching::fail_changed(InFlight::Slot const& taken) {
    Key const key = taken.fetch.request().key;
    bool const was_sent = taken.fetch.set->pushed;
    tell_changed(*wire_, key, was_sent);
    std::vector<Fetch> waiting;
    if (!was_sent) waiting = shared_.remove(key, taken.buffer);
    for (std::size_t i = 0; i < waiting.size(); ++i)
        tell_read_too(key);
    auto const fail = [this](Fetch const& fetch) {
        fail_as_changed(*fetch.set, fetch.want, wire_->rank());
        if (--fetch.set->missing == 0) complete(fetch.set);
    };
    std::ranges::for_each(waiting, fail);
    fail(taken.fetch);
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

void Fetching::refused(std::uint32_t slot, ErrorCode code, std::string_view text) {
    if (slot >= k_first_ask) {
        fail_fetch(asks_.take(slot - k_first_ask), code, text);
        return;
    }
    InFlight::Slot const taken = in_flight_.take(slot);
    std::vector<Fetch> const waiting = shared_.remove(taken.fetch.request().key, taken.buffer);
    fail_fetch(taken.fetch, code, text);
    for (Fetch const& fetch : waiting)
        fail_fetch(fetch, code, text);
}

void Fetching::fail_fetch(Fetch const& fetch, ErrorCode code, std::string_view text) {
    fail(*fetch.set, fetch.want, wire_->rank(), code, text);
    if (--fetch.set->missing == 0) complete(fetch.set);
}

/// The owner has not been told of the fetch.
void Fetching::lack_memory(Fetch const& fetch) {
    set_error(*fetch.set, [] { return std::bad_alloc(); });
    if (--fetch.set->missing == 0) complete(fetch.set);
}

void Fetching::complete(std::shared_ptr<FetchSet> const& set) {
    set->tokens.release();
    complete_.splice(complete_.end(), open_, set->place);
    set->complete = true;
}

void Fetching::tell_endless(std::uint32_t slot, Name const& name, kernel::EndlessWaits& waits) {
    auto const tell = [&](Fetch const& fetch) {
        if (void const* const task = fetch.set->waiting_task(); task != nullptr)
            waits.add({task, kernel::EndlessWaits::For::publication, name.id, name.epoch});
    };
    if (slot >= k_first_ask) {
        tell(asks_[slot - k_first_ask]);
        return;
    }
    InFlight::Slot const& taken = in_flight_[slot];
    tell(taken.fetch);
    for (Fetch const& fetch : shared_.waiting_for(taken.fetch.request().key, taken.buffer))
        tell(fetch);
}

void Fetching::find_oldest(OldestWait& oldest) {
    auto const look_at = [&](Fetch const& fetch) {
        if (!fetch.set || fetch.set->abandoned || !oldest.is_older(fetch.set->seen)) return;
        oldest.set({.since = fetch.set->seen, .key = fetch.request().key, .waiting = fetch.set});
    };
    for (Fetch const& fetch : asks_.all())
        look_at(fetch);
    for (InFlight::Slot const& slot : in_flight_.all())
        look_at(slot.fetch);
}

void Fetching::leave_sets_behind() noexcept {
    for (FetchSets const* const sets : std::array<FetchSets const*, 4>{&open_, &queue_.all(), &granted_, &complete_})
        for (std::shared_ptr<FetchSet> const& set : *sets)
            set->resume();
}

bool Fetching::call_back() {
    std::size_t const number = complete_.size();  // sets that these callbacks post are handled next time
    for (std::size_t i = 0; i < number; ++i) {
        std::shared_ptr<FetchSet> const set = std::move(complete_.front());
        complete_.pop_front();
        --open_sets_;
        if (set->done) --callbacks_;
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
