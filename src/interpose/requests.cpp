#include "interpose/requests.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "interpose/watch.hpp"

namespace sluice::interpose {

namespace {

constexpr std::uint64_t k_was_freed = 1;

/// Handles are addresses or numbers; never 0 or 1 for what can be open.
std::uint64_t key_of(MPI_Request request) noexcept {
    std::uint64_t key = 0;
    std::memcpy(&key, &request, sizeof request);
    return key + 2;
}

std::size_t slot_of(std::uint64_t key, std::size_t slots) noexcept {
    return (key * 0x9e37'79b9'7f4a'7c15ULL >> 40) % slots;
}

}  // namespace

OpenRequest* Requests::find(MPI_Request request) noexcept {
    if (!slots_) return nullptr;
    std::uint64_t const key = key_of(request);
    for (std::size_t at = slot_of(key, k_slots), probes = 0; probes < k_slots; at = (at + 1) % k_slots, ++probes) {
        OpenRequest& slot = (*slots_)[at];
        if (slot.key == key) return &slot;
        if (slot.key == 0) return nullptr;
    }
    return nullptr;
}

void Requests::remove(OpenRequest& slot) noexcept {
    // The end of a chain of slots needs no mark that somebody was here.
    std::size_t const at = static_cast<std::size_t>(&slot - slots_->data());
    if (slot.absent > 0) --incomplete_;
    bool const end_of_chain = (*slots_)[(at + 1) % k_slots].key == 0;
    slot = OpenRequest{};
    slot.key = end_of_chain ? 0 : k_was_freed;
    --kept_;
    if (kept_ == 0) slots_->fill(OpenRequest{});
}

void Requests::find_own_pages(OpenRequest& slot) noexcept {
    if (slot.absent == 0) return;
    std::uint64_t const still = MemoryWatch::absent(slot.buffer, slot.span);
    if (still < slot.absent) g_watch->own_pages(slot.absent - still);
    slot.absent = std::min(still, slot.absent);
    if (slot.absent == 0) --incomplete_;
}

void Requests::find_own_pages() noexcept {
    if (incomplete_ == 0) return;
    std::lock_guard const lock(changing_);
    for (std::size_t at = 0, left = incomplete_; left > 0 && at < k_slots; ++at) {
        OpenRequest& slot = (*slots_)[at];
        if (slot.absent == 0) continue;
        --left;
        find_own_pages(slot);
    }
}

void Requests::add(MPI_Request request, OpenRequest const& what) noexcept {
    if (request == MPI_REQUEST_NULL) return;
    std::lock_guard const lock(changing_);
    land(request);  // a handle that comes again was completed without our seeing it
    if (!slots_) slots_.reset(new (std::nothrow) std::array<OpenRequest, k_slots>());
    if (!slots_ || kept_ >= k_most) return;
    std::uint64_t const key = key_of(request);
    std::size_t at = slot_of(key, k_slots);
    while ((*slots_)[at].key > k_was_freed)
        at = (at + 1) % k_slots;
    OpenRequest& slot = (*slots_)[at];
    slot = what;
    slot.key = key;
    slot.active = !what.persistent;
    ++kept_;
    if (slot.absent > 0) ++incomplete_;
    if (slot.active) g_watch->flies(slot.site, slot.bytes);
}

void Requests::begin(MPI_Request const* requests, int count) noexcept {
    std::lock_guard const lock(changing_);
    for (int i = 0; i < count; ++i) {
        OpenRequest* const slot = find(requests[i]);
        if (slot == nullptr || slot->active) continue;
        slot->active = true;
        g_watch->flies(slot->site, slot->bytes);
    }
}

void Requests::hold(MPI_Request request, Memory memory, std::uint64_t bytes) noexcept {
    std::lock_guard const lock(changing_);
    let_go(request);  // a handle that comes again was completed without our seeing it
    g_watch->memory().sluice += bytes;
    try {
        held_.reserve(held_.size() + 1);
        held_.push_back({request, std::move(memory), bytes});
    } catch (std::bad_alloc const&) {
        static_cast<void>(memory.release());  // the request goes on reading it
    }
}

void Requests::let_go(MPI_Request request) noexcept {
    std::erase_if(held_, [request](Held const& held) {
        if (held.request == request) g_watch->memory().sluice -= held.bytes;
        return held.request == request;
    });
}

void Requests::complete(MPI_Request request) noexcept {
    std::lock_guard const lock(changing_);
    let_go(request);
    land(request);
}

void Requests::land(MPI_Request request) noexcept {
    OpenRequest* const slot = find(request);
    if (slot == nullptr) return;
    if (slot->active) g_watch->landed(slot->site, slot->bytes);
    find_own_pages(*slot);
    slot->active = false;
    if (!slot->persistent) remove(*slot);
}

void Requests::forget(MPI_Request request) noexcept {
    std::lock_guard const lock(changing_);
    OpenRequest* const slot = find(request);
    if (slot == nullptr) return;
    if (slot->active) g_watch->landed(slot->site, slot->bytes);
    remove(*slot);
}

Completing::Completing(MPI_Request const* requests, int count) noexcept {
    if (requests == nullptr || count <= 0 || g_watch->requests().empty()) return;
    auto const n = static_cast<std::size_t>(count);
    if (count <= k_few) {
        std::copy_n(requests, n, few_.begin());
    } else {
        try {
            many_.assign(requests, requests + n);
        } catch (std::bad_alloc const&) {
            return;
        }
    }
    count_ = count;
}

void Completing::all(bool complete) noexcept {
    for (int i = 0; complete && i < count_; ++i)
        g_watch->requests().complete(handle(i));
}

void Completing::at(int index) noexcept {
    if (index != MPI_UNDEFINED && index >= 0 && index < count_) g_watch->requests().complete(handle(index));
}

void Completing::some(int number, int const* indices) noexcept {
    for (int i = 0; number != MPI_UNDEFINED && i < number; ++i)
        at(indices[i]);
}

void begin_requests(MPI_Request const* requests, int count) noexcept {
    if (!g_watch->requests().empty()) g_watch->requests().begin(requests, count);
}

void forget_request(MPI_Request request) noexcept {
    if (!g_watch->requests().empty()) g_watch->requests().forget(request);
}

}  // namespace sluice::interpose
