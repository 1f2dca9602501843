// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/watch/requests.hpp"

#include <new>

#include "plugin/watch/watch.hpp"

namespace sluice::plugin {

template class OpenRequests<Watch>;

Completing::Completing(Requests& open, MPI_Request const* requests, int count) noexcept
    : open_(open), many_(memory::LeasedAllocator<Handle>(open.budget())) {
    if (requests == nullptr || count <= 0 || (open_.empty() && !open_.has_dropped())) return;
    handles_ = few_.data();
    if (count > k_few) {
        try {
            many_.resize(static_cast<std::size_t>(count));
        } catch (std::bad_alloc const&) {
            return;
        }
        handles_ = many_.data();
    }
    for (int i = 0; i < count; ++i)
        handles_[i] = {requests[i], 0};
    count_ = count;
    open_.identify(handles_, count_);
}

void Completing::all(bool complete) noexcept {
    for (int i = 0; complete && count_ > 1 && open_.is_incomplete() && i < count_; ++i)
        open_.find_own_pages(handles_[i]);
    for (int i = 0; complete && i < count_; ++i)
        bytes_ += open_.complete(handles_[i]);
}

void Completing::at(int index) noexcept {
    if (index != MPI_UNDEFINED && index >= 0 && index < count_) bytes_ += open_.complete(handles_[index]);
}

void Completing::some(int number, int const* indices) noexcept {
    for (int i = 0; number != MPI_UNDEFINED && open_.is_incomplete() && i < number; ++i)
        if (indices[i] >= 0 && indices[i] < count_) open_.find_own_pages(handles_[indices[i]]);
    for (int i = 0; number != MPI_UNDEFINED && i < number; ++i)
        at(indices[i]);
}

void Completing::freed() noexcept {
    for (int i = 0; i < count_; ++i)
        open_.forget(handles_[i]);
}

}  // namespace sluice::plugin
