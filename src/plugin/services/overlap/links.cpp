// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/overlap/links.hpp"

#include <type_traits>

#include "plugin/services/job.hpp"
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

/// Open MPI 4.1.4 hangs in MPI_Waitall if a request of several has failed and its level is not MPI_THREAD_SINGLE.
bool hangs_after_errors(Receiving const& receiving) {
#ifdef OPEN_MPI
    return receiving.may_return_errors();
#else
    static_cast<void>(receiving);
    return false;
#endif
}

/// With requests that a service owns the call goes on as it is, when nothing is under way.
bool waits_by_tests(Receiving& receiving, Call& call) {
    if (!receiving.any()) [[likely]]
        return false;
    if (call.job().owned.empty()) return true;
    receiving.receives().finish_all();
    return false;
}

struct OverlapLinks {
    static constexpr auto Isend = k_short;
    static constexpr auto Ibsend = k_short;
    static constexpr auto Issend = k_short;
    static constexpr auto Irsend = k_short;
    static constexpr auto Bsend = k_short;
    static constexpr auto Irecv = k_short;
    static constexpr auto Imrecv = k_short;
    static constexpr auto Iprobe = k_short;
    static constexpr auto Improbe = k_short;
    static constexpr auto Test = k_short;
    static constexpr auto Testall = k_short;
    static constexpr auto Testany = k_short;
    static constexpr auto Testsome = k_short;

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
            if (receiving.may_defer(call, buffer, count, type, source, comm)) [[unlikely]]
                return send_and_defer(receiving, call, sent, buffer, count, type, source, tag, comm, status);
            if (receiving.any()) [[unlikely]]
                return send_and_receive(receiving, sent, buffer, count, type, source, tag, comm, status);
        }
        return next(sendbuf, sendcount, sendtype, destination, sendtag, buffer, count, type, source, tag, comm, status);
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
        return receiving.until_done([&](int* found) { return MPI_Iprobe(source, tag, comm, found, status); });
    };
    static constexpr auto Mprobe = [](Receiving& receiving, Call&, auto next, int source, int tag, MPI_Comm comm,
                                      MPI_Message* message, MPI_Status* status) {
        if (!receiving.any()) [[likely]]
            return next(source, tag, comm, message, status);
        return receiving.until_done([&](int* found) { return MPI_Improbe(source, tag, comm, found, message, status); });
    };

    static constexpr auto Wait = [](Receiving& receiving, Call& call, auto next, MPI_Request* request,
                                    MPI_Status* status) {
        if (!waits_by_tests(receiving, call)) return next(request, status);
        return receiving.until_done([&](int* done) { return MPI_Test(request, done, status); });
    };
    static constexpr auto Waitall = [](Receiving& receiving, Call& call, auto next, int count, MPI_Request* requests,
                                       MPI_Status* statuses) {
        bool const by_tests =
            waits_by_tests(receiving, call) || (hangs_after_errors(receiving) && call.job().owned.empty());
        if (!by_tests) return next(count, requests, statuses);
        return receiving.until_done([&](int* done) { return MPI_Testall(count, requests, done, statuses); });
    };
    static constexpr auto Waitany = [](Receiving& receiving, Call& call, auto next, int count, MPI_Request* requests,
                                       int* index, MPI_Status* status) {
        if (!waits_by_tests(receiving, call)) return next(count, requests, index, status);
        return receiving.until_done([&](int* done) { return MPI_Testany(count, requests, index, done, status); });
    };
    static constexpr auto Waitsome = [](Receiving& receiving, Call& call, auto next, int count, MPI_Request* requests,
                                        int* number, int* indices, MPI_Status* statuses) {
        if (!waits_by_tests(receiving, call)) return next(count, requests, number, indices, statuses);
        return receiving.until_done([&](int* done) {
            int const code = MPI_Testsome(count, requests, number, indices, statuses);
            *done = *number != 0 ? 1 : 0;
            return code;
        });
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
