// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/substitution.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace sluice::plugin {

namespace {

/// From inside another call, MPI's own request of one message goes to MPI as it is. A collective call may have begun
/// inside, too.
bool is_left_inside(OwnedRequest const& owned) noexcept {
    return owned.is_mpi_request() && !owned.is_collective();
}

}  // namespace

std::shared_ptr<OwnedRequest> Owners::find(MPI_Request handle) const {
    std::shared_ptr<OwnedRequest> found = table.find(handle);
    if (nested && found) found->asked_inside();
    if (nested && found && is_left_inside(*found)) return nullptr;
    return found;
}

std::vector<std::shared_ptr<OwnedRequest>> Owners::find_all(MPI_Request const* handles, std::size_t n) const {
    std::vector<std::shared_ptr<OwnedRequest>> found(n);
    bool any = table.find_all(handles, n, found.data());
    if (any && nested) {
        any = false;
        for (auto& owned : found) {
            if (owned) owned->asked_inside();
            if (owned && is_left_inside(*owned)) owned = nullptr;
            any = any || owned;
        }
    }
    if (!any) found.clear();
    return found;
}

void Owners::poll() const {
    if (!nested) table.poll(calls);
}

int Owners::finish(OwnedRequest& request, MPI_Request* handle, MPI_Status* status) const {
    if (!request.persistent()) {
        // Before MPI can give the handle to another thread's request. MPI's own request is hidden.
        if (!request.is_mpi_request()) table.remove(request);
        *handle = MPI_REQUEST_NULL;
    }
    MPI_Status result{};
    int const code = request.finish(result);
    write_status(status, result);
    return code;
}

void write_status(MPI_Status* to, MPI_Status from) noexcept {
    if (to == MPI_STATUS_IGNORE) return;
    from.MPI_ERROR = to->MPI_ERROR;
    *to = from;
}

namespace {

/// MPI keeps the handle of a persistent request.
bool may_lose_its_handle(OwnedRequest const* owned) noexcept {
    return owned != nullptr && owned->is_mpi_request() && !owned->persistent() && owned->active();
}

}  // namespace

Hidden::Hidden(Owners const& owners, std::shared_ptr<OwnedRequest> request) noexcept : table_(&owners.table) {
    if (!may_lose_its_handle(request.get())) return;
    request_ = std::move(request);
    table_->hide(*request_);
}

Hidden::~Hidden() {
    if (request_ && request_->active()) table_->show(std::move(request_));
}

AskedPart::AskedPart(Owners const& owners, OwnedRequest& owned, std::size_t number, MPI_Request* handle,
                     MPI_Status* status)
    : owners_(owners),
      owned_(owned),
      number_(number),
      handle_(handle),
      status_of_program_(status),
      before_(owned.part(number).request),
      now_(owned.part(number)) {}

AskedPart::~AskedPart() {
    if (is_settled_ || now_.request == before_) return;
    if (owned_.settle(number_, now_.request, now_.status, MPI_ERR_OTHER))
        owners_.finish(owned_, handle_, status_of_program_);
}

void AskedPart::settle(int code) {
    is_settled_ = true;
    owned_.settle(number_, now_.request, now_.status, code);
}

Substitution::Substitution(Owners const& owners, int count, MPI_Request* handles, MPI_Status* statuses) noexcept
    : owners_(&owners), handles_(handles), statuses_of_program_(statuses) {
    if (handles == nullptr || count <= 0) return;
    try {
        expand_all(static_cast<std::size_t>(count));
    } catch (std::bad_alloc const&) {
        has_memory_ = any_ = false;
        owned_.clear();
    }
}

void Substitution::expand_all(std::size_t count) {
    owned_ = owners_->find_all(handles_, count);
    any_ = !owned_.empty();
    if (!any_) return;
    std::size_t slots = 0;
    for (auto const& owned : owned_)
        slots += owned ? owned->parts() : 1;
    slots_.reserve(slots);
    requests_.reserve(slots);
    statuses_.reserve(slots);
    for (std::size_t i = 0; i < owned_.size(); ++i)
        expand(static_cast<int>(i), owned_[i].get());
    places_.resize(slots_.size());
    completed_.reserve(owned_.size());
    owners_->table.hide_all(owned_, may_lose_its_handle);
}

Substitution::~Substitution() {
    if (in_mpi_) take_what_ended();
    for (auto const& owned : owned_)
        if (may_lose_its_handle(owned.get())) owners_->table.show(owned);
}

/// Which error it was, and which of them MPI would name, is not known.
void Substitution::take_what_ended() noexcept {
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
        auto const [index, part] = slots_[slot];
        MPI_Request const now = requests_[slot];
        MPI_Status const told = by_place_ ? MPI_Status() : statuses_[slot];
        MPI_Status* const status = has_statuses() && !by_place_ ? &statuses_of_program_[index] : nullptr;
        if (OwnedRequest* const owned = owned_[static_cast<std::size_t>(index)].get(); owned == nullptr) {
            if (now != std::exchange(handles_[index], now) && status != nullptr) *status = told;
        } else if (owned->active() && now != owned->part(part).request && !owned->part(part).done) {
            if (!owned->settle(part, now, told, told.MPI_ERROR)) continue;
            MPI_Status whole{};
            owners_->finish(*owned, &handles_[index], &whole);
            if (status != nullptr) write_status(status, whole);
        }
    }
}

void Substitution::expand(int index, OwnedRequest const* owned) {
    auto const add = [&](MPI_Request request, std::size_t part) {
        slots_.push_back({index, part});
        requests_.push_back(request);
        statuses_.push_back(has_statuses() ? statuses_of_program_[index] : MPI_Status());
    };
    if (owned == nullptr) return add(handles_[index], 0);
    if (!owned->active()) return add(owned->part(0).request, 0);  // inactive for MPI, too
    for (std::size_t i = 0; i < owned->parts(); ++i)
        if (OwnedRequest::Part const part = owned->part(i); !part.done) add(part.request, i);
}

/// A slot of MPI's array is complete; notes it if the program's request is.
void Substitution::complete(std::size_t slot, MPI_Status const& status, int error, bool writes_error) {
    auto const [index, part] = slots_[slot];
    std::shared_ptr<OwnedRequest> const& owned = owned_[static_cast<std::size_t>(index)];
    MPI_Request const now = std::exchange(requests_[slot], MPI_REQUEST_NULL);
    if (!owned || !owned->active()) {
        if (!owned) handles_[index] = now;
        completed_.push_back({index, status, error, writes_error});
    } else if (owned->settle(part, now, status, error)) {
        Completed whole{index, MPI_Status(), MPI_SUCCESS, writes_error};
        whole.error = owners_->finish(*owned, &handles_[index], &whole.status);
        completed_.push_back(whole);
    }
}

bool Substitution::one_failed() const noexcept {
    return std::any_of(completed_.begin(), completed_.end(),
                       [](Completed const& one) { return one.error != MPI_SUCCESS; });
}

/// As calls for several requests write it. Each status has an error if the call says MPI_ERR_IN_STATUS.
void Substitution::write(Completed const& completed, bool in_status, std::size_t at) noexcept {
    if (!has_statuses()) return;
    write_status(&statuses_of_program_[at], completed.status);
    if (in_status || completed.writes_error) statuses_of_program_[at].MPI_ERROR = completed.error;
}

int Substitution::completed_all(int code) {
    in_mpi_ = false;
    bool const said = code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
        auto const index = static_cast<std::size_t>(slots_[slot].index);
        int const left = statuses_[slot].MPI_ERROR;
        int const error = code == MPI_ERR_IN_STATUS ? left : code;
        bool const is_over = said ? error != MPI_ERR_PENDING : requests_[slot] == MPI_REQUEST_NULL;
        if (is_over)
            complete(slot, statuses_[slot], error, has_statuses() && left != statuses_of_program_[index].MPI_ERROR);
        else if (!owned_[index])
            handles_[index] = requests_[slot];
    }
    if (!said) return code;
    bool const in_status = one_failed() || completed_.size() < owned_.size();
    for (std::size_t i = 0; in_status && has_statuses() && i < owned_.size(); ++i)
        statuses_of_program_[i].MPI_ERROR = MPI_ERR_PENDING;
    for (Completed const& completed : completed_)
        write(completed, in_status, static_cast<std::size_t>(completed.index));
    return in_status ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

bool Substitution::completed_one(int code, int place, MPI_Status const& found, int* index, MPI_Status* status,
                                 int& result) {
    in_mpi_ = false;
    if (place < 0 || place >= count()) {  // MPI_UNDEFINED: none is active
        *index = place;
        if (code == MPI_SUCCESS) write_status(status, found);
        result = code;
        return true;
    }
    complete(static_cast<std::size_t>(place), found, code, false);
    if (completed_.empty()) return false;
    *index = completed_.front().index;
    write_status(status, completed_.front().status);
    result = completed_.front().error;
    return true;
}

void Substitution::expect_some() {
    by_place_ = true;
    for (std::size_t i = 0; has_statuses() && i < statuses_.size(); ++i)
        statuses_[i] = statuses_of_program_[std::min(i, owned_.size() - 1)];
}

bool Substitution::completed_some(int code, int number) {
    in_mpi_ = false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(number, 0)); ++i) {
        int const left = statuses_[i].MPI_ERROR;
        bool const writes_error =
            has_statuses() && left != statuses_of_program_[std::min(i, owned_.size() - 1)].MPI_ERROR;
        complete(static_cast<std::size_t>(places_[i]), statuses_[i], code == MPI_ERR_IN_STATUS ? left : code,
                 writes_error);
    }
    return !completed_.empty();
}

int Substitution::tell_some(int* number, int* indices) {
    bool const in_status = one_failed();
    for (std::size_t i = 0; i < completed_.size(); ++i) {
        indices[i] = completed_[i].index;
        write(completed_[i], in_status, i);
    }
    *number = static_cast<int>(completed_.size());
    return in_status ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

namespace {

bool can_start(OwnedRequest const& request) noexcept {
    return request.persistent() && !request.active();
}

MPI_Request what_cannot_start([[maybe_unused]] MPI_Request handle, OwnedRequest const& request) {
#ifdef OPEN_MPI
    if (request.persistent()) return handle;
#endif
    std::size_t part = 0;
    while (part + 1 < request.parts() && request.part(part).done)
        ++part;
    return request.part(part).request;
}

}  // namespace

StartedParts::StartedParts(Owners const& owners, int count, MPI_Request* handles) noexcept : handles_(handles) {
    if (handles == nullptr || count <= 0) return;
    try {
        expand_all(owners, static_cast<std::size_t>(count));
    } catch (std::bad_alloc const&) {
        has_memory_ = any_ = false;
    }
}

void StartedParts::expand_all(Owners const& owners, std::size_t count) {
    owned_ = owners.find_all(handles_, count);
    for (std::size_t i = 0; i < owned_.size(); ++i) {
        OwnedRequest const* const found = owned_[i].get();
        any_ = any_ || found != nullptr;
        starts_.push_back(found != nullptr && can_start(*found));
        if (!starts_.back())
            requests_.push_back(found == nullptr ? handles_[i] : what_cannot_start(handles_[i], *found));
        else
            for (std::size_t part = 0; part < found->parts(); ++part)
                requests_.push_back(found->part(part).request);
    }
}

int StartedParts::started(int code) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < owned_.size(); ++i) {
        OwnedRequest* const owned = owned_[i].get();
        if (!starts_[i]) {
            MPI_Request const now = requests_[at++];
            if (owned == nullptr) handles_[i] = now;
            continue;
        }
        for (std::size_t part = 0; part < owned->parts(); ++part)
            owned->set_part(part, requests_[at++]);
        if (code == MPI_SUCCESS) owned->start();
    }
    return code;
}

}  // namespace sluice::plugin
