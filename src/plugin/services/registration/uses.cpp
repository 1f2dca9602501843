// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/registration/uses.hpp"

#include <algorithm>
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

/// What a call does with the buffers that it is given.
enum class Handles : std::uint8_t {
    nothing,
    moves,  ///< in the call, or in a request that it starts
    keeps   ///< in a persistent request, which moves them when it is started
};

/// Buffered sends are copied. Persistent collective calls and partitioned messages are left to the MPI.
constexpr Handles handles(std::size_t function) {
    std::string_view const name = k_function_names[function];
    record::Kind const kind = k_function_kinds[function];
    bool const is_message = kind == record::Kind::send || kind == record::Kind::receive;
    if (!is_message && kind != record::Kind::collective) return Handles::nothing;
    for (std::string_view const kept : {"MPI_Send_init", "MPI_Ssend_init", "MPI_Rsend_init", "MPI_Recv_init"})
        if (name == kept) return Handles::keeps;
    for (std::string_view const other : {"_init", "Buffer", "Bsend", "Ibsend", "Start"})
        if (name.find(other) != std::string_view::npos) return Handles::nothing;
    return Handles::moves;
}

constexpr auto k_handles = [] {
    std::array<Handles, k_function_names.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = handles(i);
    return all;
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
    if (k_handles[static_cast<std::size_t>(call.function())] == Handles::nothing) return;
    TouchedMemory memory;
    touched.fill(memory);
    for (TouchedRange const& range : memory.ranges())
        if (range.bytes >= least_) [[unlikely]]
            begin(call, range);
}

void Uses::begin(Call const& call, TouchedRange const& range) noexcept {
    memory::registration::Range const buffer{range.from, range.bytes};
    Kind const kind = kind_of(call.function(), range.writes);
    if (k_handles[static_cast<std::size_t>(call.function())] == Handles::keeps)
        making_ = {MPI_REQUEST_NULL, buffer, kind};
    else if (!leaves_to_overlap(call, range))
        open(call, buffer, kind);
}

/// One userfaultfd has a page, and overlap must have it before it takes the page aside.
bool Uses::leaves_to_overlap(Call const& call, TouchedRange const& range) noexcept {
    if (range.bytes < overlapped_from_) [[likely]]
        return false;
    if (call.function() != Function::Recv && call.function() != Function::Irecv) return false;
    add(counts_.overlapped, 1);
    watch_.release({range.from, range.bytes});
    return true;
}

Uses::Open* Uses::open(Call const& call, memory::registration::Range buffer, Kind kind) noexcept {
    if (used_ == k_most) {
        add(counts_.no_place, 1);
        return nullptr;
    }
    if (!watch_.watch(buffer)) {
        add(counts_.left_alone, 1);
        return nullptr;
    }
    if (used_ == 0 && !cache_.region_of(buffer)) room_.follow(cache_);
    Open& open = open_[used_];
    open.use = cache_.begin_use(buffer);
    if (open.use.outcome == Use::Outcome::refused) {
        add(counts_.left_alone, 1);
        return nullptr;
    }
    ++used_;
    bool const found = open.use.outcome == Use::Outcome::found;
    add(found ? counts_.found : counts_.registered, 1);
    open.event = {moment(), buffer, {}, kind, What::begins, found};
    // A site is a return address. The address of the frame tells apart the paths on which the program comes to it.
    open.event.frames[0] = call.site() + 1;
    open.event.frames[1] = reinterpret_cast<std::uintptr_t>(&call);
    open.request = MPI_REQUEST_NULL;
    open.is_persistent = false;
    events_.put(open.event);
    return &open;
}

void Uses::keep(MPI_Request request) noexcept {
    Kept const made = {request, making_.buffer, making_.kind};
    making_ = {};
    drop(request, true);  // a handle that MPI gives again
    if (made.buffer.bytes == 0) return;
    if (keeps_ == k_most_kept) {
        add(counts_.no_place, 1);
        return;
    }
    kept_[keeps_++] = made;
}

void Uses::start(Call const& call, MPI_Request request) noexcept {
    auto const end = kept_.begin() + static_cast<std::ptrdiff_t>(keeps_);
    auto const kept = std::find_if(kept_.begin(), end, [&](Kept const& one) { return one.request == request; });
    if (kept == end) return;
    Open* const started = open(call, kept->buffer, kept->kind);
    if (started == nullptr) return;
    started->request = request;
    started->is_persistent = true;
    ++requests_;
}

bool Uses::drop(MPI_Request request, bool is_freed) noexcept {
    if (keeps_ == 0) [[likely]]
        return false;
    auto const end = kept_.begin() + static_cast<std::ptrdiff_t>(keeps_);
    auto const kept = std::find_if(kept_.begin(), end, [&](Kept const& one) { return one.request == request; });
    if (kept == end) return false;
    if (is_freed) *kept = kept_[--keeps_];
    return end_if([request](Open const& open) { return open.is_persistent && open.request == request; });
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

/// Handles of persistent requests stay: the MPI is asked about them. A function of the program may leave it by an
/// exception.
bool Uses::Completion::is_complete(Open const& open) const {
    if (!open.is_persistent) return requests_[open.place] == MPI_REQUEST_NULL;
    int flag = 0;
    return MPI_Request_get_status(open.request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag != 0;
}

bool Uses::Completion::end() {
    for (std::size_t i = 0; i < uses_.used_; ++i)
        if (Open& open = uses_.open_[i]; open.place >= 0 && !is_complete(open)) open.place = -1;
    return uses_.end_if([](Open const& open) { return open.place >= 0; });
}

}  // namespace sluice::plugin
