// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/registration/uses.hpp"

#include <string_view>

#include "functions.hpp"
#include "plugin/binding/clock.hpp"
#include "plugin/binding/tally.hpp"
#include "plugin/watch/call.hpp"
#include "plugin/watch/watch.hpp"

namespace sluice::plugin {

using memory::registration::Kind;
using memory::registration::Time;
using memory::registration::Use;
using memory::registration::What;

namespace {

/// Calls that move their buffers themselves. Persistent requests tell their buffers before they move them, and buffered
/// sends are copied.
constexpr bool moves_buffers(std::size_t function) {
    std::string_view const name = k_function_names[function];
    record::Kind const kind = k_function_kinds[function];
    bool const communicates =
        kind == record::Kind::send || kind == record::Kind::receive || kind == record::Kind::collective;
    return communicates && name.find("_init") == std::string_view::npos && name.find("send") != 1 &&
           name.find("Buffer") == std::string_view::npos && name.find("Ibsend") == std::string_view::npos;
}

constexpr auto k_moves_buffers = [] {
    std::array<bool, k_function_names.size()> moves{};
    for (std::size_t i = 0; i < moves.size(); ++i)
        moves[i] = moves_buffers(i);
    return moves;
}();

Kind kind_of(Function function, bool writes) noexcept {
    if (k_function_kinds[static_cast<std::size_t>(function)] == record::Kind::collective)
        return writes ? Kind::collective_receive : Kind::collective_send;
    return writes ? Kind::receive : Kind::send;
}

Time moment() noexcept {
    return Time(static_cast<Time::rep>(nanoseconds()));
}

}  // namespace

void Uses::begin(Call const& call, TouchedBy const& touched) noexcept {
    watch_.fence();
    end_call();  // of a call that an error handler or another service has ended
    if (!k_moves_buffers[static_cast<std::size_t>(call.function())]) return;
    TouchedMemory memory;
    touched.fill(memory);
    for (TouchedRange const& range : memory.ranges())
        if (range.bytes >= least_) [[unlikely]]
            begin(call, range);
}

void Uses::begin(Call const& call, TouchedRange const& range) noexcept {
    memory::registration::Range const buffer{range.from, range.bytes};
    if (used_ == k_most) {
        add(counts_.no_place, 1);
        return;
    }
    if (!watch_.watch(buffer)) {
        add(counts_.left_alone, 1);
        return;
    }
    if (used_ == 0 && !cache_.region_of(buffer)) room_.follow(cache_);
    Open& open = open_[used_];
    open.use = cache_.begin_use(buffer);
    if (open.use.outcome == Use::Outcome::refused) {
        add(counts_.left_alone, 1);
        return;
    }
    ++used_;
    bool const found = open.use.outcome == Use::Outcome::found;
    add(found ? counts_.found : counts_.registered, 1);
    open.event = {moment(), buffer, {}, kind_of(call.function(), range.writes), What::begins, found};
    // A site is a return address. The address of the frame tells apart the paths on which the program comes to it.
    open.event.frames[0] = call.site() + 1;
    open.event.frames[1] = reinterpret_cast<std::uintptr_t>(&call);
    open.request = MPI_REQUEST_NULL;
    events_.put(open.event);
}

bool Uses::end(Open& open) noexcept {
    if (!cache_.end_use(open.use)) return false;
    open.event.at = moment();
    open.event.what = What::ends;
    events_.put(open.event);
    return true;
}

template <class Which>
bool Uses::end_if(Which const& which) noexcept {
    bool told = false;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < used_; ++i) {
        if (which(open_[i])) {
            if (open_[i].request != MPI_REQUEST_NULL) --requests_;
            told |= end(open_[i]);
        } else {
            if (kept != i) open_[kept] = open_[i];
            ++kept;
        }
    }
    used_ = kept;
    return told;
}

bool Uses::end_call() noexcept {
    if (used_ == requests_) [[likely]]
        return false;
    return end_if([](Open const& open) { return open.request == MPI_REQUEST_NULL; });
}

void Uses::go_on_with(MPI_Request request) noexcept {
    if (used_ == requests_) [[likely]]
        return;
    // Of an earlier request with this handle nothing was seen to complete it.
    end_if([request](Open const& open) { return open.request == request; });
    for (std::size_t i = 0; i < used_; ++i) {
        if (open_[i].request != MPI_REQUEST_NULL) continue;
        open_[i].request = request;
        ++requests_;
    }
}

Uses::Completion::Completion(Uses& uses, MPI_Request const* requests, int count) noexcept
    : uses_(uses), requests_(requests) {
    for (std::size_t i = 0; i < uses.used_; ++i) {
        Open& open = uses.open_[i];
        open.place = -1;
        if (open.request == MPI_REQUEST_NULL) continue;
        for (int at = 0; at < count && open.place < 0; ++at)
            if (requests[at] == open.request) open.place = at;
    }
}

bool Uses::Completion::end() noexcept {
    return uses_.end_if(
        [this](Open const& open) { return open.place >= 0 && requests_[open.place] == MPI_REQUEST_NULL; });
}

}  // namespace sluice::plugin
