// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/flood/links.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>

#include "plugin/binding/tally.hpp"
#include "plugin/services/flood/receiving_half.hpp"
#include "plugin/services/job.hpp"
#include "plugin/services/requests/answer_places.hpp"
#include "plugin/services/requests/translated.hpp"
#include "plugin/tables/message_bytes.hpp"
#include "plugin/watch/call.hpp"

namespace sluice::plugin {

namespace {

/// The mark of the sending half of a call that also receives.
std::optional<Hold> send_half(Flood& flood, Call& call, std::optional<Message> const& due,
                              ReceivingHalf const& receive) {
    if (!due || !receive.is_right(call, flood.control.largest_tag())) [[likely]]
        return std::nullopt;
    return flood.control.send(call, *due);
}

int end_of_exchange(Flood& flood, std::optional<Hold>& hold, int code) {
    if (code == MPI_SUCCESS) flood.control.received();
    if (hold) flood.control.wait(*hold);
    return code;
}

/// A call that waits for all of its requests.
template <class Next>
int wait_for_all(Flood& flood, Next const& next, MPI_Request const* requests, int count) {
    while (flood.held.holds_any(requests, count)) {
        flood.held.settle();
        if (!flood.held.holds_any(requests, count)) break;
        FloodControl::pause(flood.held.held_since());
    }
    return next();
}

/// A call that waits for one of its requests: `ask(int* done)` is the same that does not wait.
template <class Next, class Ask>
int wait_for_one(Flood& flood, Next const& next, MPI_Request const* requests, int count, Ask const& ask) {
    while (flood.held.holds_any(requests, count)) {
        flood.held.settle();
        int done = 0;
        int const code = ask(&done);
        if (code != MPI_SUCCESS || done != 0) return code;
        FloodControl::pause(flood.held.held_since());
    }
    return next();
}

/// A call that only asks.
constexpr auto k_ask = [](Flood& flood, Call&, auto next, auto... rest) {
    flood.held.settle();
    return next(rest...);
};

/// Persistent requests of other kinds: their handle may have been one of ours that was freed inside another call.
constexpr auto k_other_persistent = [](Flood& flood, Call&, auto next, auto... rest) {
    int const code = next(rest...);
    if (code == MPI_SUCCESS && flood.persistent.any()) {
        MPI_Request* request = nullptr;
        ((request =
              [&](auto argument) {
                  if constexpr (std::is_same_v<decltype(argument), MPI_Request*>)
                      return argument;
                  else
                      return request;
              }(rest)),
         ...);
        CallersLock const lock(flood.changing_persistent);
        flood.persistent.freed(*request);
    }
    return code;
};

std::optional<Message> persistent_message(Flood& flood, MPI_Request request) {
    CallersLock const lock(flood.changing_persistent);
    Message const* const found = flood.persistent.find(request);
    return found != nullptr ? std::optional(*found) : std::nullopt;
}

/// A standard send that MPI would start: one that is active is for MPI to refuse.
std::optional<Message> idle_send(Flood& flood, Call& call, MPI_Request request) {
    auto const message = persistent_message(flood, request);
    return message && !call.watch().requests().is_active(request) ? message : std::nullopt;
}

/// The message of a send that should leave as a mark.
std::optional<Message> mark_due(Flood& flood, Call& call, MPI_Request request) {
    auto const message = idle_send(flood, call, request);
    if (!message) return std::nullopt;
    return flood.control.due(call, message->buffer, message->count, message->type, message->destination, message->tag,
                             message->comm);
}

/// True if a mark left in its place.
bool start_as_mark(Flood& flood, Call& call, MPI_Request request) {
    auto const due = mark_due(flood, call, request);
    return due && flood.held.start(call, *due, request);
}

/// MPI starts a list in its order, and nothing of one that it refuses. So what it may refuse goes first, and the rest
/// in the order of the list, from mark to mark.
template <class Next>
int start_all(Flood& flood, Call& call, Next const& next, int count, MPI_Request* requests) {
    if (!flood.persistent.any() || count < 0 || requests == nullptr) return next(count, requests);
    std::unique_ptr<MPI_Request[]> const copy(new (std::nothrow) MPI_Request[static_cast<std::size_t>(count)]);
    if (!copy) return next(count, requests);
    std::span const list(copy.get(), static_cast<std::size_t>(count));
    std::copy_n(requests, count, list.begin());
    auto const start = [&](auto from, auto to) {
        return from == to ? MPI_SUCCESS : next(static_cast<int>(to - from), std::to_address(from));
    };
    auto const is_send = [&](MPI_Request request) { return idle_send(flood, call, request).has_value(); };
    if (std::none_of(list.begin(), list.end(), is_send)) return next(count, requests);
    auto from = list.begin();
    auto const is_known = [&](MPI_Request request) { return call.watch().requests().can_start(request); };
    if (!std::all_of(list.begin(), list.end(), is_known)) {
        auto const sends = std::stable_partition(list.begin(), list.end(), std::not_fn(is_send));
        if (int const code = start(from, sends); code != MPI_SUCCESS) return code;
        from = sends;
    }
    for (auto at = from; at != list.end(); ++at) {
        auto const due = mark_due(flood, call, *at);
        if (!due) continue;
        if (int const code = start(from, at); code != MPI_SUCCESS) return code;
        from = at;
        if (flood.held.start(call, *due, *at)) ++from;
    }
    return start(from, list.end());
}

/// The last of a call's arguments, which is its communicator.
template <class... Arguments>
auto last_of(Arguments... arguments) {
    return std::get<sizeof...(arguments) - 1>(std::tuple(arguments...));
}

/// Bytes of a call that MPI has accepted.
template <class Count>
std::uint64_t bytes_after(Call& call, Count count, MPI_Datatype type) {
    MessageBytes sizes(call.watch().communicators(), call.watch().datatypes());
    sizes.ask_mpi();
    return sizes.bytes(count, type);
}

bool is_root(Call& call, int root, MPI_Comm comm) {
    return call.watch().communicators().find(comm).rank == root;
}

struct FloodLinks {
    static constexpr auto Send = [](Flood& flood, Call& call, auto next, void const* buffer, auto count,
                                    MPI_Datatype type, int destination, int tag, MPI_Comm comm) {
        auto const due = flood.control.due(call, buffer, count, type, destination, tag, comm);
        auto hold = due ? flood.control.send(call, *due) : std::nullopt;
        if (!hold) [[likely]]
            return next(buffer, count, type, destination, tag, comm);
        flood.control.wait(*hold);
        return MPI_SUCCESS;
    };
    static constexpr auto Isend = [](Flood& flood, Call& call, auto next, void const* buffer, auto count,
                                     MPI_Datatype type, int destination, int tag, MPI_Comm comm, MPI_Request* request) {
        auto const due = flood.control.due(call, buffer, count, type, destination, tag, comm);
        if (due && request != nullptr && flood.held.isend(call, *due, request)) [[unlikely]]
            return MPI_SUCCESS;
        return next(buffer, count, type, destination, tag, comm, request);
    };
    // The receiving half is the program's call, with nothing to send: errors name the program's function.
    static constexpr auto Sendrecv = [](Flood& flood, Call& call, auto next, void const* sendbuf, auto sendcount,
                                        MPI_Datatype sendtype, int destination, int sendtag, auto... receive) {
        ReceivingHalf const half{receive...};
        auto const due = flood.control.due(call, sendbuf, sendcount, sendtype, destination, sendtag, half.comm);
        auto hold = send_half(flood, call, due, half);
        return end_of_exchange(
            flood, hold, next(sendbuf, sendcount, sendtype, hold ? MPI_PROC_NULL : destination, sendtag, receive...));
    };
    static constexpr auto Sendrecv_replace = [](Flood& flood, Call& call, auto next, void* buffer, auto count,
                                                MPI_Datatype type, int destination, int sendtag, int source,
                                                int recvtag, MPI_Comm comm, MPI_Status* status) {
        auto const due = flood.control.due(call, buffer, count, type, destination, sendtag, comm);
        auto hold = send_half(flood, call, due, {buffer, count, type, source, recvtag, comm, status});
        return end_of_exchange(
            flood, hold,
            next(buffer, count, type, hold ? MPI_PROC_NULL : destination, sendtag, source, recvtag, comm, status));
    };

    static constexpr auto Send_init = [](Flood& flood, Call&, auto next, void const* buffer, auto count,
                                         MPI_Datatype type, int destination, int tag, MPI_Comm comm,
                                         MPI_Request* request) {
        int const code = next(buffer, count, type, destination, tag, comm, request);
        if (code != MPI_SUCCESS) return code;
        auto const elements = static_cast<int>(count);
        std::optional<Message> message;
        if (elements == count) message = Message{buffer, elements, type, destination, tag, comm, 0, true};
        CallersLock const lock(flood.changing_persistent);
        flood.persistent.made(*request, message);
        return code;
    };
    static constexpr auto Bsend_init = k_other_persistent;
    static constexpr auto Ssend_init = k_other_persistent;
    static constexpr auto Rsend_init = k_other_persistent;
    static constexpr auto Recv_init = k_other_persistent;
    static constexpr auto Start = [](Flood& flood, Call& call, auto next, MPI_Request* request) {
        if (flood.persistent.any() && request != nullptr && start_as_mark(flood, call, *request)) return MPI_SUCCESS;
        return next(request);
    };
    static constexpr auto Startall = [](Flood& flood, Call& call, auto next, int count, MPI_Request* requests) {
        return start_all(flood, call, next, count, requests);
    };

    static constexpr auto Recv = [](Flood& flood, Call&, auto next, auto... rest) {
        int const code = next(rest...);
        if (code == MPI_SUCCESS) flood.control.received();
        return code;
    };
    static constexpr auto Mrecv = Recv;

    static constexpr auto Wait = [](Flood& flood, Call&, auto next, MPI_Request* request, MPI_Status* status) {
        if (flood.held.empty() || lacks_a_place(status)) [[likely]]
            return next(request, status);
        return wait_for_all(
            flood, [&] { return next(request, status); }, request, 1);
    };
    static constexpr auto Waitall = [](Flood& flood, Call&, auto next, int count, MPI_Request* requests,
                                       MPI_Status* statuses) {
        if (flood.held.empty() || lacks_a_place_of(count, requests, statuses)) [[likely]]
            return next(count, requests, statuses);
        return wait_for_all(
            flood, [&] { return next(count, requests, statuses); }, requests, count);
    };
    static constexpr auto Waitany = [](Flood& flood, Call&, auto next, int count, MPI_Request* requests, int* index,
                                       MPI_Status* status) {
        if (flood.held.empty() || lacks_a_place_of(count, requests, status, index)) [[likely]]
            return next(count, requests, index, status);
        return wait_for_one(
            flood, [&] { return next(count, requests, index, status); }, requests, count,
            [&](int* done) {
                return Translated<false>::Testany([](auto... all) { return MPI_Testany(all...); }, count, requests,
                                                  index, done, status);
            });
    };
    static constexpr auto Waitsome = [](Flood& flood, Call&, auto next, int count, MPI_Request* requests, int* number,
                                        int* indices, MPI_Status* statuses) {
        if (flood.held.empty() || lacks_a_place_of(count, requests, statuses, number, indices)) [[likely]]
            return next(count, requests, number, indices, statuses);
        return wait_for_one(
            flood, [&] { return next(count, requests, number, indices, statuses); }, requests, count,
            [&](int* done) {
                int const code = Translated<false>::Testsome([](auto... all) { return MPI_Testsome(all...); }, count,
                                                             requests, number, indices, statuses);
                *done = *number != 0 ? 1 : 0;
                return code;
            });
    };
    static constexpr auto Test = k_ask;
    static constexpr auto Testall = k_ask;
    static constexpr auto Testany = k_ask;
    static constexpr auto Testsome = k_ask;
    static constexpr auto Request_get_status = k_ask;

    // The program does not wait for what it frees, so the hold is here.
    static constexpr auto Request_free = [](Flood& flood, Call&, auto next, MPI_Request* request) {
        MPI_Request const freed = request != nullptr ? *request : MPI_REQUEST_NULL;
        int const code = wait_for_all(
            flood, [&] { return next(request); }, request, 1);
        if (code == MPI_SUCCESS && flood.persistent.any()) {
            CallersLock const lock(flood.changing_persistent);
            flood.persistent.freed(freed);
        }
        return code;
    };
    // A wait for what is cancelled may not depend on another rank. The message has left, so it is not cancelled.
    static constexpr auto Cancel = [](Flood& flood, Call&, auto next, MPI_Request* request) {
        if (!flood.held.empty() && request != nullptr) flood.held.release(*request);
        return next(request);
    };

    static constexpr auto Bcast = [](Flood& flood, Call& call, auto next, void* buffer, auto count, MPI_Datatype type,
                                     int root, MPI_Comm comm) {
        int const code = next(buffer, count, type, root, comm);
        if (code == MPI_SUCCESS) flood.rooted.did(comm, bytes_after(call, count, type));
        return code;
    };
    static constexpr auto Reduce = [](Flood& flood, Call& call, auto next, void const* from, void* to, auto count,
                                      MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
        int const code = next(from, to, count, type, op, root, comm);
        if (code == MPI_SUCCESS) flood.rooted.did(comm, bytes_after(call, count, type));
        return code;
    };
    static constexpr auto Gather = [](Flood& flood, Call& call, auto next, void const* from, auto sendcount,
                                      MPI_Datatype sendtype, void* to, auto recvcount, MPI_Datatype recvtype, int root,
                                      MPI_Comm comm) {
        int const code = next(from, sendcount, sendtype, to, recvcount, recvtype, root, comm);
        if (code == MPI_SUCCESS)
            flood.rooted.did(comm, is_root(call, root, comm) ? bytes_after(call, recvcount, recvtype)
                                                             : bytes_after(call, sendcount, sendtype));
        return code;
    };
    static constexpr auto Scatter = [](Flood& flood, Call& call, auto next, void const* from, auto sendcount,
                                       MPI_Datatype sendtype, void* to, auto recvcount, MPI_Datatype recvtype, int root,
                                       MPI_Comm comm) {
        int const code = next(from, sendcount, sendtype, to, recvcount, recvtype, root, comm);
        if (code == MPI_SUCCESS)
            flood.rooted.did(comm, is_root(call, root, comm) ? bytes_after(call, sendcount, sendtype)
                                                             : bytes_after(call, recvcount, recvtype));
        return code;
    };
    static constexpr auto Gatherv = [](Flood& flood, Call&, auto next, auto... rest) {
        int const code = next(rest...);
        if (code == MPI_SUCCESS) flood.rooted.did_vector(last_of(rest...));
        return code;
    };
    static constexpr auto Scatterv = Gatherv;
    static constexpr auto Comm_free = [](Flood& flood, Call&, auto next, MPI_Comm* comm) {
        if (comm != nullptr) flood.rooted.before_free(*comm);
        return next(comm);
    };
    static constexpr auto Comm_disconnect = Comm_free;
};

}  // namespace

void add_flood_links(Job& job, Flood& flood) noexcept {
    job.chains.add<FloodLinks>(flood);
}

void remove_flood_links(Job& job, Flood& flood) noexcept {
    job.chains.remove<FloodLinks>(flood);
}

}  // namespace sluice::plugin
