// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/owner/serving.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>
#include <utility>

#include "base/text/exception_text.hpp"
#include "fetch/reader/direct_reads.hpp"
#include "sluice/error.hpp"

namespace sluice::fetch {

using base::text_of;

void Serving::add_wait(Name const& name, std::shared_ptr<DeliveryWait> const& wait) {
    Publication* const publication = publications_.find(name);
    if (publication == nullptr) return;
    publication->waiting.push_back(wait);
    ++wait->missing;
}

void Serving::publish(Name const& name, Publication&& publication) {
    if (auto const why = publications_.why_over(name))
        throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(wire_->rank()) + " publishes id " +
                                                     std::to_string(name.id) + " of epoch " +
                                                     std::to_string(name.epoch) + " (" +
                                                     std::to_string(publication.bytes) + " bytes), but it " + *why);
    if (checks_) publication.hash = hash_when_published(publication);
    publication.readers = publication.readers_left;
    publications_.add(name, std::move(publication));
    for (Requests early = publications_.take_early(name); !early.empty();)
        answer_first(early);
}

/// Packs once more than readers ask for. Data that cannot be packed now have no hash: they are not compared, or their
/// readers get the error.
DataHash Serving::hash_when_published(Publication const& publication) {
    if (publication.bring) return std::nullopt;
    if (publication.data != nullptr) return hash_of({publication.data, publication.bytes});
    budget::Tokens const tokens = tokens_->take_beyond(1, Bytes{publication.bytes});
    memory::BufferMemory::Block const memory = memory_->allocate(publication.bytes);
    if (!memory) return std::nullopt;
    std::span<std::byte> const out{memory.get(), publication.bytes};
    try {
        publication.pack(out);
    } catch (...) {
        return std::nullopt;
    }
    return hash_of(out);
}

/// Goes ahead of the data.
void Serving::tell_hash(Request const& request, DataHash const& hash) {
    if (!hash) return;
    if (request.peer == wire_->rank())
        local_->expect_hash(request.control.slot, *hash);
    else
        wire_->send(request.peer, {Kind::hash, request.control.slot, request.control.name, *hash});
}

void Serving::withdraw(Name const& name) {
    ended_.add(publications_.withdraw(name));
    refuse_what_will_not_come();
}

void Serving::close(std::uint64_t epoch) {
    publications_.close(epoch);
    refuse_what_will_not_come();
}

void Serving::finish() {
    publications_.finish();
    refuse_what_will_not_come();
}

void Serving::give_up(std::string const& why) {
    publications_.give_up(why);
    refuse_what_will_not_come();
}

void Serving::refuse_what_will_not_come() {
    for (Request const& request : publications_.take_refused())
        refuse_as_over(request);
}

void Serving::refuse_as_over(Request const& request) {
    refuse(request, [&] { return publications_.refusal(request.control.name); });
}

/// A request that there is no memory to keep fails: its reader would wait for ever.
void Serving::receive(int peer, Control const& control) {
    Request const request{peer, control};
    bool const is_published = publications_.find(control.name) != nullptr;
    if (!is_published && publications_.is_refused(control.name)) {
        refuse_as_over(request);
        return;
    }
    try {
        Requests one(1, request);
        if (is_published) {
            answer_first(one);
        } else {
            publications_.keep_early(std::move(one));
            ++counts_.early;
        }
    } catch (std::bad_alloc const&) {
        refuse(request, ErrorCode::out_of_memory, "it has no memory to keep the request");
    }
}

/// Answers the first request, whose publication exists.
void Serving::answer_first(Requests& requests) {
    Request const request = requests.front();
    if (request.control.kind != Kind::ask) {
        queue_.splice(queue_.end(), requests, requests.begin());
        return;
    }
    requests.pop_front();
    std::uint64_t const bytes = publications_.find(request.control.name)->bytes;
    if (request.peer == wire_->rank())
        local_->ready(request.control.slot, bytes);
    else
        wire_->send(request.peer, {Kind::ready, request.control.slot, request.control.name, bytes});
}

/// `text` makes the text, if there is memory for it.
template <typename Text>
void Serving::refuse(Request const& request, Text const& text) {
    std::string why;
    try {
        why = text();
    } catch (std::bad_alloc const&) {
        refuse(request, ErrorCode::out_of_memory, "it has no memory to say why not");
        return;
    }
    refuse(request, ErrorCode::invalid_argument, why);
}

void Serving::refuse(Request const& request, ErrorCode code, std::string_view text) {
    if (request.peer == wire_->rank())
        local_->refused(request.control.slot, code, text);
    else
        wire_->send(request.peer,
                    {Kind::refuse, request.control.slot, request.control.name, static_cast<std::uint64_t>(code)}, text);
}

/// Counts one reader as being served. This happens before any of the program's code runs, because that may withdraw the
/// publication, which must stay until its messages have arrived.
std::uint64_t Serving::depart(Publication& publication) {
    ++publication.on_their_way;
    --publication.readers_left;
    return next_ticket_++;
}

/// Phase 4: the application returns the data.
bool Serving::pack(Request const& request, Publication& publication, std::span<std::byte> out) {
    try {
        publication.pack(out);
        return true;
    } catch (...) {
        auto const error = std::current_exception();
        refuse(request, [&] { return "it threw an exception while it packed the data: " + text_of(error); });
    }
    return false;
}

Serving::Outcome Serving::serve_here(Request const& request, Publication& publication) {
    std::span<std::byte> const room = local_->room_for(request.control.slot, publication.bytes);
    if (room.data() == nullptr) return Outcome::no_memory;
    depart(publication);
    bool is_here = true;
    if (publication.data != nullptr)
        std::memcpy(room.data(), publication.data, publication.bytes);
    else
        is_here = pack(request, publication, room);
    if (is_here) {
        tell_hash(request, publication.hash);
        local_->local_complete(request.control.slot);
    }
    ended_.add(publications_.arrived(request.control.name));
    return Outcome::served;
}

/// Phase 4 for data that are elsewhere: takes their tokens and memory first; the data are then brought while others are
/// served.
Serving::Outcome Serving::bring(Request const& request, Publication& publication) {
    bool const is_here = request.peer == wire_->rank();
    Job job{request.control.name, nullptr, {}};
    if (is_here) {
        if (local_->room_for(request.control.slot, publication.bytes).data() == nullptr) return Outcome::no_memory;
    } else {
        std::optional<budget::Tokens> tokens = tokens_->try_take(1, Bytes{publication.bytes});
        if (!tokens) return Outcome::no_tokens;
        job.tokens = *std::move(tokens);
        job.memory = memory_->allocate(publication.bytes);
        if (!job.memory) return Outcome::no_memory;
    }
    Store::DataSource const bring =
        publication.bring;  // a copy, because the publication may be removed before it returns
    auto const coming = coming_.emplace(next_ticket_, Coming{request, publication.bytes}).first;
    if (!is_here) try {
            under_way_.emplace(next_ticket_, std::move(job));
        } catch (std::bad_alloc const&) {
            coming_.erase(coming);
            throw;
        }
    std::uint64_t const ticket = depart(publication);
    if (!is_here) ++counts_.served;
    auto const sink = [this, ticket, alive = std::weak_ptr(alive_)](std::span<std::byte const> bytes,
                                                                    std::exception_ptr const& error) {
        if (!alive.lock()) return;
        auto const held = hold_();
        if (!coming_.contains(ticket))
            throw Error(ErrorCode::invalid_argument, "a DataSink is called again: it takes its data once");
        brought(ticket, bytes, error);
    };
    try {
        bring(sink);
    } catch (...) {
        // A source that has called the sink before has done its work.
        if (coming_.contains(ticket)) brought(ticket, {}, std::current_exception());
    }
    return Outcome::served;
}

void Serving::brought(std::uint64_t ticket, std::span<std::byte const> bytes, std::exception_ptr const& error) {
    Coming const coming = coming_.extract(ticket).mapped();
    Request const& request = coming.request;
    if (checks_ && !error && bytes.size() == coming.bytes) {
        DataHash& hash = publications_.on_its_way(request.control.name).hash;
        if (!hash) hash = hash_of(bytes);
        tell_hash(request, hash);
    }
    if (error) {
        refuse(request, [&] { return "it could not bring the data: " + text_of(error); });
    } else if (bytes.size() != coming.bytes) {
        refuse(request, [&] {
            return "it has published " + std::to_string(coming.bytes) + " bytes and brought " +
                   std::to_string(bytes.size());
        });
    } else if (request.peer == wire_->rank()) {
        std::ranges::copy(bytes, local_->room_for(request.control.slot, bytes.size()).begin());
        local_->local_complete(request.control.slot);
    } else if (!wire_->make_room(bytes.size())) {
        refuse(request, ErrorCode::out_of_memory, "it has no memory to send the data");
    } else {
        std::byte* const out = under_way_.at(ticket).memory.get();
        std::ranges::copy(bytes, out);
        if (wire_->send_data(request.peer, request.control.slot, {out, bytes.size()}, ticket)) sent(ticket);
        return;
    }
    under_way_.erase(ticket);
    ended_.add(publications_.arrived(request.control.name));
}

/// Lists need little memory: if there is none for them, there may be none for ever, and the reader gets an error. Then
/// nothing else has changed, because lists grow before the publication departs.
Serving::Outcome Serving::serve(Request const& request) {
    try {
        return start(request);
    } catch (std::bad_alloc const&) {
        refuse(request, ErrorCode::out_of_memory, "it has no memory to send the data");
        return Outcome::served;
    }
}

Serving::Outcome Serving::start(Request const& request) {
    Publication* const publication = publications_.find(request.control.name);
    if (publication == nullptr || publication->readers_left <= 0) {  // withdrawn meanwhile, or served once too often
        refuse(request, [&] {
            bool const is_over = publications_.is_refused(request.control.name);
            return is_over ? publications_.refusal(request.control.name) : std::string("all readers have had them");
        });
        return Outcome::served;
    }
    if (request.control.bytes != Control::k_any && request.control.bytes != publication->bytes) {
        refuse(request, [&] { return "it has published " + std::to_string(publication->bytes) + " bytes"; });
        return Outcome::served;
    }
    if (publication->bring) return bring(request, *publication);
    if (request.peer == wire_->rank()) return serve_here(request, *publication);
    if (point(request, *publication)) return Outcome::served;
    return send(request, *publication);
}

Serving::Outcome Serving::send(Request const& request, Publication& publication) {
    Job job{request.control.name, nullptr, {}};
    std::span<std::byte const> data{publication.data, publication.bytes};
    bool const is_packed = publication.data == nullptr;
    std::span<std::byte> out;
    if (is_packed) {
        std::optional<budget::Tokens> tokens = tokens_->try_take(1, Bytes{publication.bytes});
        if (!tokens) return Outcome::no_tokens;
        job.tokens = *std::move(tokens);
        job.memory = memory_->allocate(publication.bytes);
        if (!job.memory) return Outcome::no_memory;
        data = out = {job.memory.get(), publication.bytes};
    }
    if (!wire_->make_room(publication.bytes)) throw std::bad_alloc();
    under_way_.emplace(next_ticket_, std::move(job));
    std::uint64_t const ticket = depart(publication);
    if (is_packed && !pack(request, publication, out)) {
        sent(ticket);
        return Outcome::served;
    }
    // Phases 5 and 6: the data go to the reader's runtime.
    ++counts_.served;
    tell_hash(request, publication.hash);
    if (wire_->send_data(request.peer, request.control.slot, data, ticket)) sent(ticket);
    return Outcome::served;
}

/// Phase 5 inside a node: the reader is told the address of the data.
bool Serving::point(Request const& request, Publication& publication) {
    if (request.control.kind != Kind::request_or_read || publication.data == nullptr) return false;
    pointed_.emplace(next_ticket_, request);
    std::uint64_t const ticket = depart(publication);
    ++counts_.served;
    tell_hash(request, publication.hash);
    Place const place = reads_->place_of(publication.data, ticket);
    wire_->send(request.peer, {Kind::lies_at, request.control.slot, request.control.name, publication.bytes},
                {reinterpret_cast<char const*>(&place), sizeof place});
    return true;
}

void Serving::has_read(std::uint64_t ticket) {
    Name const name = pointed_.extract(ticket).mapped().control.name;
    ended_.add(publications_.arrived(name));
}

void Serving::cannot_read(std::uint64_t ticket) {
    Request request = pointed_.extract(ticket).mapped();
    request.control.kind = Kind::request;
    --counts_.served;
    try {
        queue_.push_front(request);
        ended_.add(publications_.take_back(request.control.name));
    } catch (std::bad_alloc const&) {
        refuse(request, ErrorCode::out_of_memory, "it has no memory to send the data, which could not be read");
        ended_.add(publications_.arrived(request.control.name));
    }
}

bool Serving::serve_plain() {
    auto const is_served = [this](Request const& request) {
        Publication const* const publication = publications_.find(request.control.name);
        return publication != nullptr && publication->data != nullptr && serve(request) == Outcome::served;
    };
    std::size_t const before = queue_.size();
    for (auto at = queue_.begin(); at != queue_.end();)
        at = is_served(*at) ? queue_.erase(at) : std::next(at);
    return queue_.size() < before;
}

bool Serving::serve() {
    bool moved = false;
    while (!queue_.empty()) {
        Request const request = queue_.front();  // a copy, because packing may publish and so add to the queue
        Outcome const outcome = serve(request);
        if (outcome == Outcome::no_memory) ++counts_.retried;
        if (outcome != Outcome::served) break;
        queue_.pop_front();
        moved = true;
    }
    return moved;
}

/// What another rank fetches may run code of the program, or be what a task waits for. Without other ranks only the
/// fetches of this one remain, which Fetching tells.
void Serving::tell_endless(kernel::EndlessWaits& waits) const {
    bool const has_peers = wire_->size() > 1;
    if (!ended_.empty() || !queue_.empty() || !coming_.empty() || (has_peers && publications_.may_call())) {
        waits.may_end();
        return;
    }
    publications_.for_each_early_of(wire_->rank(), [&](Request const& request) {
        local_->tell_endless(request.control.slot, request.control.name, waits);
    });
    if (has_peers) return;
    publications_.for_each([&waits](Name const& name, Publication const& publication) {
        for (auto const& wait : publication.waiting)
            if (wait->task != nullptr) waits.add({wait->task, kernel::EndlessWaits::For::readers, name.id, name.epoch});
    });
}

LongWaits::State Serving::state_of(int reader, Name const& name) const {
    using State = LongWaits::State;
    auto const is_it = [&](Request const& request) { return request.peer == reader && request.control.name == name; };
    if (std::ranges::any_of(queue_, is_it)) return State::waits_for_memory;
    if (std::ranges::any_of(coming_, [&](auto const& entry) { return is_it(entry.second.request); }))
        return State::is_brought;
    if (std::ranges::any_of(pointed_, [&](auto const& entry) { return is_it(entry.second); }) ||
        std::ranges::any_of(under_way_, [&](auto const& entry) { return entry.second.name == name; }))
        return State::is_on_its_way;
    return publications_.has(name) ? State::is_published : State::not_published;
}

void Serving::sent(std::uint64_t ticket) {
    auto const job = under_way_.find(ticket);
    Name const name = job->second.name;
    under_way_.erase(job);  // gives back its memory and its tokens
    ended_.add(publications_.arrived(name));
}

}  // namespace sluice::fetch
