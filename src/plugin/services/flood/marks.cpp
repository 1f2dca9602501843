// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/flood/marks.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace sluice::plugin {

/// `sent` is the message as it leaves from the copy. A packed message has the signature of what was packed.
bool Marks::copy(Message const& message, Mark& mark, Message& sent) const {
    sent = message;
    int room = static_cast<int>(message.bytes);
    if (!message.dense && MPI_Pack_size(message.count, message.type, message.comm, &room) != MPI_SUCCESS) return false;
    // At least a byte, for its address tells a copy from none.
    mark.copy = memory::leased_bytes(budget_, static_cast<std::uint64_t>(std::max(room, 1)), Purpose::staging);
    sent.buffer = mark.copy.get();
    if (message.dense) {
        if (message.bytes > 0) std::memcpy(mark.copy.get(), message.buffer, message.bytes);
        return true;
    }
    int at = 0;
    if (MPI_Pack(message.buffer, message.count, message.type, mark.copy.get(), room, &at, message.comm) != MPI_SUCCESS)
        return false;
    sent.count = at;
    sent.type = MPI_PACKED;
    return true;
}

/// With its copy, the last of those that are pending.
std::shared_ptr<Mark> Marks::prepare(Message const& message, Message& sent) noexcept {
    try {
        auto mark = std::make_shared<Mark>();
        if (!copy(message, *mark, sent)) return nullptr;
        pending_.push_back(mark);
        return mark;
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}

std::shared_ptr<Mark> Marks::send(Message const& message) {
    Message sent{};
    auto mark = prepare(message, sent);
    if (!mark) return nullptr;
    std::byte* const copy = mark->copy.release();  // MPI's, if a function of the program leaves it by an exception
    int const code =
        MPI_Issend(sent.buffer, sent.count, sent.type, sent.destination, sent.tag, sent.comm, &mark->request);
    mark->copy.reset(copy);
    if (code == MPI_SUCCESS) return mark;
    pending_.pop_back();
    return nullptr;
}

bool Marks::look(Mark& mark) {
    if (mark.is_done()) return true;
    int done = 0;
    // After an error there is nothing to wait for.
    if (MPI_Test(&mark.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) mark.request = MPI_REQUEST_NULL;
    if (!mark.is_done()) return false;
    mark.copy.reset();
    return true;
}

void Marks::sweep() {
    for (std::size_t looks = std::min(pending_.size(), k_looks); looks > 0; --looks) {
        if (next_ >= pending_.size()) next_ = 0;
        if (!look(*pending_[next_])) {
            ++next_;
            continue;
        }
        std::swap(pending_[next_], pending_.back());
        pending_.pop_back();
    }
}

void Marks::leave_to_mpi() {
    for (auto const& mark : pending_) {
        if (look(*mark)) continue;
        MPI_Request_free(&mark->request);
        static_cast<void>(mark->copy.release());
    }
    pending_.clear();
}

}  // namespace sluice::plugin
