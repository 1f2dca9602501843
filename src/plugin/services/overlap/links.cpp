// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/overlap/links.hpp"

#include <type_traits>

#include "plugin/services/job.hpp"
#include "plugin/services/overlap/completion_links.hpp"
#include "plugin/services/overlap/receiving.hpp"
#include "plugin/watch/call.hpp"

namespace sluice::plugin {

namespace {

template <class Count>
inline constexpr bool k_is_large = !std::is_same_v<Count, int>;  // of MPI_X_c, which goes not beside

/// `start` makes a request, which is waited for by tests.
template <class Start>
int start_and_wait(Receiving& receiving, MPI_Status* status, Start const& start) {
    MPI_Request request = MPI_REQUEST_NULL;
    int const code = receiving.in_turn([&] { return start(&request); });
    if (code != MPI_SUCCESS) return code;
    return receiving.until_done([&](int* done) { return MPI_Test(&request, done, status); });
}

/// A call that does not wait for other ranks.
constexpr auto k_short = [](Receiving& receiving, Call&, auto next, auto... arguments) {
    if (!receiving.any()) [[likely]]
        return next(arguments...);
    return receiving.in_turn([&] { return next(arguments...); });
};

/// A blocking send, by the nonblocking one of its kind.
template <auto start>
constexpr auto k_send = [](Receiving& receiving, Call&, auto next, void const* buffer, auto count, MPI_Datatype type,
                           int destination, int tag, MPI_Comm comm) {
    if constexpr (!k_is_large<decltype(count)>) {
        if (receiving.any()) [[unlikely]]
            return start_and_wait(receiving, MPI_STATUS_IGNORE, [&](MPI_Request* request) {
                return start(buffer, count, type, destination, tag, comm, request);
            });
    }
    return next(buffer, count, type, destination, tag, comm);
};

template <class Next>
int receive(Receiving& receiving, Call& call, Next next, void* buffer, int count, MPI_Datatype type, int source,
            int tag, MPI_Comm comm, MPI_Status* status) {
    receiving.comes({source, tag, comm});
    if (receiving.may_defer(call, buffer, count, type, source, comm)) [[unlikely]] {
        Matched matched;
        int const code = receiving.match(source, tag, comm, matched, nullptr);
        return code != MPI_SUCCESS ? code : receiving.land(call, buffer, count, type, matched, status);
    }
    if (!receiving.any()) [[likely]]
        return next(buffer, count, type, source, tag, comm, status);
    return start_and_wait(receiving, status, [&](MPI_Request* request) {
        return MPI_Irecv(buffer, count, type, source, tag, comm, request);
    });
}

/// What leaves and what comes in one call.
struct Sent {
    void const* buffer;
    int count;
    MPI_Datatype type;
    int destination;
    int tag;
};

/// MPI would read pages that wait for the data: a program may not use a buffer twice in a call, and some do.
bool is_of_both(Call& call, Sent const& sent, void* buffer, int count, MPI_Datatype type) noexcept {
    MessageBytes sizes(call.watch().communicators(), call.watch().datatypes());
    auto const out = sizes.message(sent.buffer, sent.count, sent.type);
    auto const in = sizes.message(buffer, count, type);
    return out && in && out->from < in->from + in->span && in->from < out->from + out->span;
}

int send_and_defer(Receiving& receiving, Call& call, Sent const& sent, void* buffer, int count, MPI_Datatype type,
                   int source, int tag, MPI_Comm comm, MPI_Status* status) {
    MPI_Request sending = MPI_REQUEST_NULL;
    int code = receiving.in_turn(
        [&] { return MPI_Isend(sent.buffer, sent.count, sent.type, sent.destination, sent.tag, comm, &sending); });
    Matched matched;
    if (code == MPI_SUCCESS) code = receiving.match(source, tag, comm, matched, &sending);
    if (code == MPI_SUCCESS) code = receiving.land(call, buffer, count, type, matched, status);
    if (code != MPI_SUCCESS) return code;
    return receiving.until_done([&](int* done) { return MPI_Test(&sending, done, MPI_STATUS_IGNORE); });
}

int send_and_receive(Receiving& receiving, Sent const& sent, void* buffer, int count, MPI_Datatype type, int source,
                     int tag, MPI_Comm comm, MPI_Status* status) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int code = receiving.in_turn([&] {
        int const received = MPI_Irecv(buffer, count, type, source, tag, comm, &requests[0]);
        if (received != MPI_SUCCESS) return received;
        return MPI_Isend(sent.buffer, sent.count, sent.type, sent.destination, sent.tag, comm, &requests[1]);
    });
    if (code != MPI_SUCCESS) return code;
    code = receiving.until_done([&](int* done) { return MPI_Test(&requests[0], done, status); });
    if (code != MPI_SUCCESS) return code;
    return receiving.until_done([&](int* done) { return MPI_Test(&requests[1], done, MPI_STATUS_IGNORE); });
}

struct OverlapLinks : CompletionLinks {
    static constexpr auto Isend = k_short;
    static constexpr auto Ibsend = k_short;
    static constexpr auto Issend = k_short;
    static constexpr auto Irsend = k_short;
    static constexpr auto Bsend = k_short;
    static constexpr auto Imrecv = k_short;

    static constexpr auto Send = k_send<[](auto... a) { return MPI_Isend(a...); }>;
    static constexpr auto Ssend = k_send<[](auto... a) { return MPI_Issend(a...); }>;
    static constexpr auto Rsend = k_send<[](auto... a) { return MPI_Irsend(a...); }>;

    static constexpr auto Recv = [](Receiving& receiving, Call& call, auto next, void* buffer, auto count,
                                    MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
        if constexpr (k_is_large<decltype(count)>)
            return next(buffer, count, type, source, tag, comm, status);
        else
            return receive(receiving, call, next, buffer, count, type, source, tag, comm, status);
    };
    static constexpr auto Sendrecv = [](Receiving& receiving, Call& call, auto next, void const* sendbuf,
                                        auto sendcount, MPI_Datatype sendtype, int destination, int sendtag,
                                        void* buffer, auto count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                        MPI_Status* status) {
        if constexpr (!k_is_large<decltype(count)>) {
            Sent const sent{sendbuf, sendcount, sendtype, destination, sendtag};
            receiving.comes({source, tag, comm});
            if (receiving.may_defer(call, buffer, count, type, source, comm) &&
                !is_of_both(call, sent, buffer, count, type)) [[unlikely]]
                return send_and_defer(receiving, call, sent, buffer, count, type, source, tag, comm, status);
            if (receiving.any()) [[unlikely]]
                return send_and_receive(receiving, sent, buffer, count, type, source, tag, comm, status);
        }
        return next(sendbuf, sendcount, sendtype, destination, sendtag, buffer, count, type, source, tag, comm, status);
    };
    static constexpr auto Irecv = [](Receiving& receiving, Call& call, auto next, void* buffer, auto count,
                                     MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
        Envelope const envelope{source, tag, comm};
        if constexpr (!k_is_large<decltype(count)>) {
            if (receiving.hold(call, buffer, count, type, envelope, request)) [[unlikely]]
                return MPI_SUCCESS;
        }
        receiving.comes(envelope);
        return k_short(receiving, call, next, buffer, count, type, source, tag, comm, request);
    };
    static constexpr auto Comm_set_errhandler = [](Receiving& receiving, Call&, auto next, MPI_Comm comm,
                                                   MPI_Errhandler handler) {
        receiving.sets_handler(handler);
        return next(comm, handler);
    };
    static constexpr auto Mrecv = [](Receiving& receiving, Call&, auto next, void* buffer, auto count,
                                     MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
        if constexpr (!k_is_large<decltype(count)>) {
            if (receiving.any()) [[unlikely]]
                return start_and_wait(receiving, status, [&](MPI_Request* request) {
                    return MPI_Imrecv(buffer, count, type, message, request);
                });
        }
        return next(buffer, count, type, message, status);
    };
    static constexpr auto Probe = [](Receiving& receiving, Call&, auto next, int source, int tag, MPI_Comm comm,
                                     MPI_Status* status) {
        if (!receiving.any()) [[likely]]
            return next(source, tag, comm, status);
        receiving.comes({source, tag, comm});
        return receiving.until_done([&](int* found) { return MPI_Iprobe(source, tag, comm, found, status); });
    };
    static constexpr auto Iprobe = [](Receiving& receiving, Call& call, auto next, int source, int tag, MPI_Comm comm,
                                      auto... rest) {
        receiving.comes({source, tag, comm});
        return k_short(receiving, call, next, source, tag, comm, rest...);
    };
    static constexpr auto Improbe = Iprobe;
    static constexpr auto Mprobe = [](Receiving& receiving, Call&, auto next, int source, int tag, MPI_Comm comm,
                                      MPI_Message* message, MPI_Status* status) {
        if (!receiving.any()) [[likely]]
            return next(source, tag, comm, message, status);
        receiving.comes({source, tag, comm});
        return receiving.until_done([&](int* found) { return MPI_Improbe(source, tag, comm, found, message, status); });
    };
};

}  // namespace

void add_overlap_links(Job& job, Receiving& receiving) noexcept {
    job.chains.add<OverlapLinks>(receiving);
}

void remove_overlap_links(Job& job, Receiving& receiving) noexcept {
    job.chains.remove<OverlapLinks>(receiving);
}

}  // namespace sluice::plugin
