// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/registration/links.hpp"

#include <mpi.h>

#include <tuple>

#include "plugin/services/job.hpp"
#include "plugin/services/registration/registering.hpp"
#include "plugin/watch/call.hpp"

namespace sluice::plugin {

namespace {

constexpr auto k_blocking = [](Registering& registering, Call& call, auto next, auto... arguments) {
    int const code = next(arguments...);
    if (!call.is_nested()) registering.call_ended();
    return code;
};

/// The last argument is the place of the new request.
constexpr auto k_starting = [](Registering& registering, Call& call, auto next, auto... arguments) {
    int const code = next(arguments...);
    if (call.is_nested()) return code;
    MPI_Request const* const request = std::get<sizeof...(arguments) - 1>(std::tuple(arguments...));
    registering.call_started(code == MPI_SUCCESS ? *request : MPI_REQUEST_NULL);
    return code;
};

constexpr auto k_keeping = [](Registering& registering, Call&, auto next, auto... arguments) {
    int const code = next(arguments...);
    MPI_Request const* const request = std::get<sizeof...(arguments) - 1>(std::tuple(arguments...));
    registering.request_kept(code == MPI_SUCCESS ? *request : MPI_REQUEST_NULL);
    return code;
};

constexpr auto k_freeing = [](Registering& registering, Call&, auto next, MPI_Request* request) {
    MPI_Request const freed = *request;
    int const code = next(request);
    if (code == MPI_SUCCESS) registering.freed(freed);
    return code;
};

constexpr auto k_completing = [](Registering& registering, Call&, auto next, MPI_Request* request, auto... rest) {
    return registering.completing(request, 1, [&] { return next(request, rest...); });
};

constexpr auto k_completing_some = [](Registering& registering, Call&, auto next, int count, MPI_Request* requests,
                                      auto... rest) {
    return registering.completing(requests, count, [&] { return next(count, requests, rest...); });
};

struct RegistrationLinks {
    static constexpr auto Send = k_blocking;
    static constexpr auto Ssend = k_blocking;
    static constexpr auto Rsend = k_blocking;
    static constexpr auto Recv = k_blocking;
    static constexpr auto Mrecv = k_blocking;
    static constexpr auto Sendrecv = k_blocking;
    static constexpr auto Sendrecv_replace = k_blocking;

    static constexpr auto Bcast = k_blocking;
    static constexpr auto Gather = k_blocking;
    static constexpr auto Gatherv = k_blocking;
    static constexpr auto Scatter = k_blocking;
    static constexpr auto Scatterv = k_blocking;
    static constexpr auto Allgather = k_blocking;
    static constexpr auto Allgatherv = k_blocking;
    static constexpr auto Alltoall = k_blocking;
    static constexpr auto Alltoallv = k_blocking;
    static constexpr auto Alltoallw = k_blocking;
    static constexpr auto Reduce = k_blocking;
    static constexpr auto Allreduce = k_blocking;
    static constexpr auto Reduce_scatter = k_blocking;
    static constexpr auto Reduce_scatter_block = k_blocking;
    static constexpr auto Scan = k_blocking;
    static constexpr auto Exscan = k_blocking;
    static constexpr auto Neighbor_allgather = k_blocking;
    static constexpr auto Neighbor_allgatherv = k_blocking;
    static constexpr auto Neighbor_alltoall = k_blocking;
    static constexpr auto Neighbor_alltoallv = k_blocking;
    static constexpr auto Neighbor_alltoallw = k_blocking;

    static constexpr auto Isend = k_starting;
    static constexpr auto Issend = k_starting;
    static constexpr auto Irsend = k_starting;
    static constexpr auto Irecv = k_starting;
    static constexpr auto Imrecv = k_starting;
    [[maybe_unused]] static constexpr auto Isendrecv = k_starting;  // of MPI 4
    [[maybe_unused]] static constexpr auto Isendrecv_replace = k_starting;
    static constexpr auto Ibcast = k_starting;
    static constexpr auto Igather = k_starting;
    static constexpr auto Igatherv = k_starting;
    static constexpr auto Iscatter = k_starting;
    static constexpr auto Iscatterv = k_starting;
    static constexpr auto Iallgather = k_starting;
    static constexpr auto Iallgatherv = k_starting;
    static constexpr auto Ialltoall = k_starting;
    static constexpr auto Ialltoallv = k_starting;
    static constexpr auto Ialltoallw = k_starting;
    static constexpr auto Ireduce = k_starting;
    static constexpr auto Iallreduce = k_starting;
    static constexpr auto Ireduce_scatter = k_starting;
    static constexpr auto Ireduce_scatter_block = k_starting;
    static constexpr auto Iscan = k_starting;
    static constexpr auto Iexscan = k_starting;
    static constexpr auto Ineighbor_allgather = k_starting;
    static constexpr auto Ineighbor_allgatherv = k_starting;
    static constexpr auto Ineighbor_alltoall = k_starting;
    static constexpr auto Ineighbor_alltoallv = k_starting;
    static constexpr auto Ineighbor_alltoallw = k_starting;

    static constexpr auto Send_init = k_keeping;
    static constexpr auto Ssend_init = k_keeping;
    static constexpr auto Rsend_init = k_keeping;
    static constexpr auto Recv_init = k_keeping;
    static constexpr auto Start = [](Registering& registering, Call& call, auto next, MPI_Request* request) {
        return registering.starting(call, request, 1, [&] { return next(request); });
    };
    static constexpr auto Startall = [](Registering& registering, Call& call, auto next, int count,
                                        MPI_Request* requests) {
        return registering.starting(call, requests, count, [&] { return next(count, requests); });
    };
    static constexpr auto Request_free = k_freeing;

    static constexpr auto Wait = k_completing;
    static constexpr auto Test = k_completing;
    static constexpr auto Waitall = k_completing_some;
    static constexpr auto Waitany = k_completing_some;
    static constexpr auto Waitsome = k_completing_some;
    static constexpr auto Testall = k_completing_some;
    static constexpr auto Testany = k_completing_some;
    static constexpr auto Testsome = k_completing_some;
};

}  // namespace

void add_registration_links(Job& job, Registering& registering) noexcept {
    job.chains.add<RegistrationLinks>(registering);
}

void remove_registration_links(Job& job, Registering& registering) noexcept {
    job.chains.remove<RegistrationLinks>(registering);
}

}  // namespace sluice::plugin
