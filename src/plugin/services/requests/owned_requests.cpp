// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/requests/owned_requests.hpp"

#include <new>
#include <utility>

#include "base/fixed_table.hpp"
#include "mpi/handle_key.hpp"

namespace sluice::plugin {

MPI_Request null_request() noexcept {
    return MPI_REQUEST_NULL;
}

OwnedRequest::OwnedRequest(std::size_t parts, bool persistent)
    : handle_(MPI_REQUEST_NULL),
      parts_(parts, Part{MPI_REQUEST_NULL, MPI_Status(), false}),
      left_(persistent ? 0 : parts),
      persistent_(persistent),
      active_(!persistent) {}

void OwnedRequest::describe(std::span<Part const> parts, MPI_Status& status) const noexcept {
    status = parts.back().status;
}

int OwnedRequest::complete(std::span<Part const> parts) noexcept {
    for (Part const& part : parts)
        if (part.status.MPI_ERROR != MPI_SUCCESS) return part.status.MPI_ERROR;
    return MPI_SUCCESS;
}

OwnedRequest::Part OwnedRequest::part(std::size_t i) const {
    std::lock_guard const lock(changing_);
    return parts_[i];
}

void OwnedRequest::set_part(std::size_t i, MPI_Request request) {
    std::lock_guard const lock(changing_);
    parts_[i].request = request;
    note_whose_handle();
}

void OwnedRequest::note_whose_handle() noexcept {
    is_mpi_request_ = parts_.size() == 1 && parts_[0].request == handle_;
}

void OwnedRequest::start() {
    std::lock_guard const lock(changing_);
    for (Part& part : parts_)
        part.done = false;
    left_ = parts_.size();
    active_.store(true, std::memory_order_release);
}

bool OwnedRequest::settle(std::size_t i, MPI_Request now, MPI_Status const& status, int code) {
    std::lock_guard const lock(changing_);
    Part& part = parts_[i];
    if (part.done) return false;
    part.request = now;
    part.status = status;
    part.status.MPI_ERROR = code;
    part.done = true;
    return --left_ == 0;
}

int OwnedRequest::finish(MPI_Status& status) noexcept {
    describe(parts_, status);
    int const code = complete(parts_);
    active_.store(false, std::memory_order_release);
    return code;
}

OwnedRequests::OwnedRequests() : buckets_(std::size_t{1} << k_first_bits) {}

OwnedRequests::~OwnedRequests() {
    for (Link& first : buckets_)
        while (first)
            first = std::exchange(first->next_, nullptr);  // one after the other, not by recursion
    for (Link* const list : {&freed_, &left_to_mpi_})
        while (*list)
            *list = std::exchange((*list)->next_, nullptr);
}

OwnedRequests::Link const* OwnedRequests::find_link(MPI_Request handle) const noexcept {
    Link const* link = &buckets_[base::slot_of_key(mpi::handle_key(handle), bits_)];
    while (*link && (*link)->handle_ != handle)
        link = &(*link)->next_;
    return link;
}

/// Takes out what `handle` stands for if that is `only`, or anything if `only` is null.
OwnedRequests::Link OwnedRequests::take(MPI_Request handle, OwnedRequest const* only) noexcept {
    auto& link = const_cast<Link&>(*find_link(handle));
    if (!link || (only != nullptr && link.get() != only)) return nullptr;
    Link const rest = std::exchange(link->next_, nullptr);
    --in_table_;
    return std::exchange(link, rest);
}

void OwnedRequests::put(Link request) noexcept {
    Link& first = buckets_[base::slot_of_key(mpi::handle_key(request->handle_), bits_)];
    request->next_ = std::exchange(first, nullptr);
    first = std::move(request);
    ++in_table_;
}

/// Without memory for more buckets the searches become longer.
void OwnedRequests::grow() noexcept {
    if (in_table_ < buckets_.size()) return;
    std::vector<Link> old;
    try {
        old.resize(buckets_.size() * 2);
    } catch (std::bad_alloc const&) {
        return;
    }
    old.swap(buckets_);
    ++bits_;
    in_table_ = 0;
    for (Link& first : old) {
        while (first) {
            Link const rest = std::exchange(first->next_, nullptr);
            put(std::exchange(first, rest));
        }
    }
}

void OwnedRequests::add(MPI_Request handle, std::shared_ptr<OwnedRequest> request) noexcept {
    Link before;  // is destroyed after the lock is given back
    std::lock_guard const lock(changing_);
    request->handle_ = handle;
    request->note_whose_handle();
    before = take(handle, nullptr);
    grow();
    put(std::move(request));
    if (!before) kept_.fetch_add(1, std::memory_order_release);
}

std::shared_ptr<OwnedRequest> OwnedRequests::find(MPI_Request handle) const {
    std::lock_guard const lock(changing_);
    return *find_link(handle);
}

bool OwnedRequests::find_all(MPI_Request const* handles, std::size_t n, std::shared_ptr<OwnedRequest>* found) const {
    bool any = false;
    std::lock_guard const lock(changing_);
    for (std::size_t i = 0; i < n; ++i) {
        found[i] = *find_link(handles[i]);
        any = any || found[i];
    }
    return any;
}

void OwnedRequests::remove(OwnedRequest const& request) noexcept {
    Link taken;
    std::lock_guard const lock(changing_);
    taken = take(request.handle_, &request);
    if (taken) kept_.fetch_sub(1, std::memory_order_release);
}

void OwnedRequests::keep_freed(Link request) noexcept {
    request->next_ = std::exchange(freed_, nullptr);
    freed_ = std::move(request);
    kept_.fetch_add(1, std::memory_order_release);
}

OwnedRequests::Link OwnedRequests::take_freed() noexcept {
    if (!freed_) return nullptr;
    Link const rest = std::exchange(freed_->next_, nullptr);
    kept_.fetch_sub(1, std::memory_order_release);
    return std::exchange(freed_, rest);
}

void OwnedRequests::keep_left(Link request) noexcept {
    request->next_ = std::exchange(left_to_mpi_, nullptr);
    left_to_mpi_ = std::move(request);
}

void OwnedRequests::leave_to_mpi(std::shared_ptr<OwnedRequest> request) noexcept {
    remove(*request);
    std::lock_guard const lock(changing_);
    keep_left(std::move(request));
}

void OwnedRequests::release(std::shared_ptr<OwnedRequest> request) noexcept {
    remove(*request);
    std::lock_guard const lock(changing_);
    keep_freed(std::move(request));
}

namespace {

/// True when all parts are complete.
bool test_parts(OwnedRequest& request, RequestCalls const& calls) {
    bool all = true;
    for (std::size_t i = 0; i < request.parts(); ++i) {
        OwnedRequest::Part part = request.part(i);
        int flag = 0;
        if (part.done) continue;
        int const code = calls.test(&part.request, &flag, &part.status);
        if (flag != 0 || code != MPI_SUCCESS)
            request.settle(i, part.request, part.status, code);
        else
            all = false;
    }
    return all;
}

void free_parts(OwnedRequest& request, RequestCalls const& calls) {
    for (std::size_t i = 0; i < request.parts(); ++i) {
        MPI_Request part = request.part(i).request;
        if (part == MPI_REQUEST_NULL) continue;
        calls.free(&part);
        request.set_part(i, part);
    }
}

}  // namespace

/// Takes the freed requests out of the table, and puts back those that are not over; also where a function of the
/// program leaves MPI by an exception, for MPI uses their memory.
class OwnedRequests::Polled {
  public:
    explicit Polled(OwnedRequests& table) noexcept : table_(table) {
        std::lock_guard const lock(table_.changing_);
        open_ = std::exchange(table_.freed_, nullptr);
    }
    Polled(Polled const&) = delete;
    Polled& operator=(Polled const&) = delete;
    ~Polled() {
        while (next()) {
        }
    }
    Link next() noexcept {
        put_back();
        if (!open_) return nullptr;
        Link const rest = std::exchange(open_->next_, nullptr);
        return now_ = std::exchange(open_, rest);
    }
    void is_over() noexcept {
        table_.kept_.fetch_sub(1, std::memory_order_release);
        now_ = nullptr;
    }

  private:
    void put_back() noexcept {
        if (!now_) return;
        std::lock_guard const lock(table_.changing_);
        table_.kept_.fetch_sub(1, std::memory_order_release);
        table_.keep_freed(std::exchange(now_, nullptr));
    }

    OwnedRequests& table_;
    Link open_;  // a list
    Link now_;
};

void OwnedRequests::poll(RequestCalls const& calls) {
    Polled polled(*this);  // MPI is called without the lock
    while (Link const request = polled.next()) {
        if (!test_parts(*request, calls)) continue;
        if (request->active()) {
            MPI_Status status{};
            request->finish(status);
        }
        free_parts(*request, calls);  // of a persistent one
        polled.is_over();
    }
}

void OwnedRequests::leave_freed_to_mpi(RequestCalls const& calls) {
    poll(calls);
    for (;;) {
        Link request;
        {
            std::lock_guard const lock(changing_);
            request = take_freed();
        }
        if (!request) return;
        free_parts(*request, calls);
        std::lock_guard const lock(changing_);
        keep_left(std::move(request));
    }
}

}  // namespace sluice::plugin
