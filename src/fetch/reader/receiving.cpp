// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/reader/receiving.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <new>
#include <utility>

#include "sluice/error.hpp"

namespace sluice::fetch {

namespace {

// Seconds of silence after which the sender of data that a set waits for is asked whether it will send them. Most data
// arrive by themselves before that, so the question costs nothing then.
constexpr double k_late = 0.01;
constexpr std::string_view k_received = "no further data: all data of that name have been received";

}  // namespace

void Receiving::post(std::shared_ptr<FetchSet> const& set) {
    std::vector<FetchRequest> const wants =
        set->wants;  // a copy, because settling the last one may move the wants out of the set
    double const now = wire_->now();
    std::list<Late> late;
    for (FetchRequest const& want : wants)
        late.push_back({want.key, now});
    set->pushed = true;
    if (!fetching_->open(set)) return;
    if (wants.empty() || !enlist(set)) {
        fetching_->complete(set);
        return;
    }
    set->missing = wants.size();
    for (FetchRequest const& want : wants) {
        Coming& coming = coming_.at(want.key);
        if (coming.heard == Heard::nothing)
            late_.splice(late_.end(), late, late.begin());
        else
            late.pop_front();
        if (coming.heard == Heard::offered || coming.heard == Heard::here) settle(coming);
    }
}

/// Registers the set as the one that waits for each of its keys. Sent data have one reader. A set that cannot be
/// registered fails.
bool Receiving::enlist(std::shared_ptr<FetchSet> const& set) {
    try {
        if (enlist_all(set)) return true;
    } catch (std::bad_alloc const&) {
        set_error(*set, [] { return std::bad_alloc(); });
    }
    give_up(set);
    return false;
}

bool Receiving::enlist_all(std::shared_ptr<FetchSet> const& set) {
    over_.make_room(coming_.size() + set->wants.size());
    for (std::uint32_t i = 0; i < set->wants.size(); ++i) {
        Coming& coming = coming_[set->wants[i].key];
        if (coming.set == nullptr) {
            coming.set = set;
            coming.want = i;
            continue;
        }
        set_error(*set, [&] {
            return Error(ErrorCode::invalid_argument, "rank " + std::to_string(wire_->rank()) + " receives " +
                                                          text_of(set->wants[i].key) +
                                                          " twice, but sent data are received once");
        });
        return false;
    }
    return true;
}

/// The data stay for other sets.
void Receiving::give_up(std::shared_ptr<FetchSet> const& set) {
    for (FetchRequest const& want : set->wants) {
        auto const at = coming_.find(want.key);
        if (at == coming_.end() || at->second.set != set) continue;
        at->second.set = nullptr;
        if (at->second.heard == Heard::nothing) coming_.erase(at);
    }
}

/// Returns null if data of that name are already known.
Receiving::Coming* Receiving::hear(Key const& key, std::uint64_t bytes, Heard heard) {
    Coming& coming = coming_[key];
    if (coming.heard != Heard::nothing) {
        coming.twice = true;
        return nullptr;
    }
    coming.heard = heard;
    coming.bytes = bytes;
    return &coming;
}

void Receiving::offered(int peer, Control const& control) {
    Coming* const coming = hear({peer, control.name.id, control.name.epoch}, control.bytes, Heard::offered);
    if (coming != nullptr && coming->set != nullptr) settle(*coming);
}

void Receiving::pushed(int peer, Control const& control, DataHash const& hash) {
    Key const key{peer, control.name.id, control.name.epoch};
    auto const buffer = std::make_shared<Buffer>();
    buffer->bytes = control.bytes;
    std::uint32_t const number = k_first_arrival | (next_arrival_ % k_first_arrival);
    std::deque<std::uint32_t>* const next = control.bytes > 0 ? &next_of_[peer] : nullptr;
    Coming* coming = nullptr;
    try {
        if (next != nullptr) {
            arriving_[number] = {key, buffer, 0, 0};
            next->push_back(number);
        }
        coming = hear(key, control.bytes, Heard::arriving);
    } catch (std::bad_alloc const&) {
        if (next != nullptr && !next->empty() && next->back() == number) next->pop_back();
        arriving_.erase(number);
        throw;
    }
    if (coming != nullptr) {
        coming->buffer = buffer;
        coming->hash = hash;
        if (coming->set == nullptr) unexpected_ += Bytes{control.bytes};
    }
    if (control.bytes > 0)
        ++next_arrival_;
    else
        complete(key, buffer);  // no data follow
}

/// Uncontrolled data need memory without tokens.
bool Receiving::arrived(int peer, std::size_t bytes) {
    auto const next = next_of_.find(peer);
    if (next == next_of_.end() || next->second.empty()) return false;  // came before the message with their name
    std::uint32_t const number = next->second.front();
    Arrival& arrival = arriving_.at(number);
    Buffer& buffer = *arrival.buffer;
    if (!buffer.memory) {
        buffer.memory = memory_->allocate(buffer.bytes);
        if (!buffer.memory) {
            ++retried_;
            return false;
        }
        buffer.tokens = beyond_->take_beyond(1, Bytes{buffer.bytes});
    }
    std::uint64_t const at = arrival.received;
    arrival.received += bytes;
    if (arrival.received == buffer.bytes) {
        next->second.pop_front();
        if (next->second.empty()) next_of_.erase(next);
    }
    if (wire_->receive_data(peer, wire_->push_slot(), {buffer.memory.get() + at, bytes}, number))
        piece_complete(number, bytes);
    return true;
}

void Receiving::piece_complete(std::uint32_t arrival, std::size_t bytes) {
    auto const at = arriving_.find(arrival);
    at->second.complete += bytes;
    if (at->second.complete < at->second.buffer->bytes) return;
    Arrival const done = std::move(at->second);
    arriving_.erase(at);
    complete(done.key, done.buffer);
}

void Receiving::here(Key const& key, memory::BufferMemory::Block&& memory, std::uint64_t bytes, DataHash const& hash) {
    auto const buffer = std::make_shared<Buffer>();
    Coming* const coming = hear(key, bytes, Heard::arriving);
    buffer->memory = std::move(memory);
    buffer->bytes = bytes;
    buffer->tokens = beyond_->take_beyond(1, Bytes{bytes});
    if (coming != nullptr) {
        coming->buffer = buffer;
        coming->hash = hash;
        if (coming->set == nullptr) unexpected_ += Bytes{bytes};
    }
    complete(key, buffer);
}

void Receiving::complete(Key const& key, std::shared_ptr<Buffer> const& buffer) {
    buffer->complete = true;
    Coming& coming = coming_.at(key);
    if (coming.buffer != buffer) return;  // the second push of that name
    coming.heard = Heard::here;
    if (coming.hash) {
        ++compared_;
        coming.changed = differs(coming.hash, {buffer->memory.get(), buffer->bytes});
        if (coming.changed) tell_changed(*wire_, key, true);
    }
    if (coming.set != nullptr) settle(coming);
}

/// The data are offered or here, and their set is served accordingly.
void Receiving::settle(Coming& coming) {
    std::shared_ptr<FetchSet> const set = coming.set;
    FetchRequest& want = set->wants[coming.want];
    if (want.bytes == FetchRequest::k_any) want.bytes = {coming.bytes};
    if (want.bytes.count != coming.bytes) {
        std::array<char, 48> text;
        std::snprintf(text.data(), text.size(), "it has sent %" PRIu64 " bytes", coming.bytes);
        fail(*set, coming.want, wire_->rank(), ErrorCode::invalid_argument, text.data());
    }
    settle_one(set);
}

void Receiving::settle_one(std::shared_ptr<FetchSet> const& set) {
    if (--set->missing == 0) take(set);
}

/// Phase 4, or phase 2 again: the set has its tokens.
void Receiving::take(std::shared_ptr<FetchSet> const& set) {
    for (std::uint32_t i = 0; i < set->wants.size(); ++i)
        if (auto const at = coming_.find(set->wants[i].key); at != coming_.end() && at->second.twice)
            fail(*set, i, wire_->rank(), ErrorCode::invalid_argument, "it has sent these data twice");
    for (std::uint32_t i = 0; i < set->wants.size(); ++i)
        if (auto const at = coming_.find(set->wants[i].key); at != coming_.end() && at->second.changed)
            fail_as_changed(*set, i, wire_->rank());
    if (set->error || fetching_->is_too_large(*set)) {
        give_up(set);
        fetching_->complete(set);
        return;
    }
    for (std::size_t i = 0; i < set->wants.size(); ++i) {
        auto const at = coming_.find(set->wants[i].key);
        over_.remember(at->first);
        if (at->second.heard == Heard::offered) {
            ++set->missing;
        } else {
            ++received_;
            received_bytes_ += Bytes{at->second.bytes};
            set->buffers[i] = std::move(at->second.buffer);
        }
        coming_.erase(at);
    }
    if (set->missing == 0)
        fetching_->complete(set);
    else
        fetching_->wait_for_tokens(*set);
}

bool Receiving::is_waited_for(Key const& key) const {
    auto const at = coming_.find(key);
    return at != coming_.end() && at->second.heard == Heard::nothing && !at->second.refused;
}

void Receiving::unsent(Key const& key, std::string_view text) {
    if (!is_waited_for(key)) return;  // its set was given up, or the data arrived after all
    Coming& coming = coming_.at(key);
    coming.refused = true;
    // A question that crossed the data on their way is still open at the sender, which answers it when it finishes.
    fail(*coming.set, coming.want, wire_->rank(), ErrorCode::invalid_argument, over_.contains(key) ? k_received : text);
    settle_one(std::shared_ptr<FetchSet>(coming.set));
}

bool Receiving::ask_for_late(bool at_once) {
    bool asked = false;
    while (!late_.empty()) {
        Late const late = late_.front();
        if (is_waited_for(late.key)) {
            if (!at_once && wire_->now() < late.since + k_late) break;
            try {
                ask_for(late.key);
            } catch (std::bad_alloc const&) {
                break;  // asked for at the next look
            }
            asked = true;
        }
        late_.pop_front();
    }
    return asked;
}

void Receiving::ask_for(Key const& key) {
    Name const name{key.id, key.epoch};
    if (over_.contains(key))
        unsent(key, k_received);
    else if (key.owner == wire_->rank())
        sending_->expected(wire_->rank(), name);
    else
        ask(key.owner, name);
}

/// A set may end by itself as long as the senders of its data have not been asked whether they will send them.
void Receiving::tell_endless(kernel::EndlessWaits& waits) const {
    if (!late_.empty()) waits.may_end();
    for (auto const& [key, coming] : coming_) {
        if (key.owner != wire_->rank() || coming.set == nullptr || !is_waited_for(key)) continue;
        if (void const* const task = coming.set->waiting_task(); task != nullptr)
            waits.add({task, kernel::EndlessWaits::For::sending, key.id, key.epoch});
    }
}

void Receiving::find_oldest(OldestWait& oldest) const {
    for (auto const& [key, coming] : coming_) {
        if (coming.set == nullptr || coming.set->abandoned || !is_waited_for(key)) continue;
        if (!oldest.is_older(coming.set->seen)) continue;
        oldest.set({.what = LongWait::For::sent_data, .since = coming.set->seen, .key = key, .waiting = coming.set});
    }
}

void Receiving::ask(int sender, Name const& name) {
    ++questions_;
    wire_->send(sender, {Kind::expect, 0, name, 0});
}

StoreReport Receiving::figures() const {
    StoreReport report;
    report.received = received_;
    report.received_bytes = received_bytes_;
    report.unexpected = unexpected_;
    report.uncontrolled_peak = beyond_->peak();
    report.retried = retried_;
    report.compared = compared_;
    return report;
}

}  // namespace sluice::fetch
