// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/calls.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include "support/libmpi.hpp"

namespace sluice::bench {

namespace {

using Receive = void (*)(OverlapCalls const& calls, void* buffer, int bytes, int from);
using Start = MPI_Request (*)(OverlapCalls const& calls, void* buffer, int bytes, int from);

/// The number in the empty instruction keeps the compiler from merging these functions, and from leaving for the
/// receive by a jump, which would have no return address here.
template <int Site>
[[gnu::noinline]] void receive_here(OverlapCalls const& calls, void* buffer, int bytes, int from) {
    calls.recv(buffer, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    __asm__ volatile("" : : "i"(Site) : "memory");
}

template <int Site>
[[gnu::noinline]] MPI_Request start_here(OverlapCalls const& calls, void* buffer, int bytes, int from) {
    MPI_Request request = MPI_REQUEST_NULL;
    calls.irecv(buffer, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, &request);
    __asm__ volatile("" : : "i"(Site) : "memory");
    return request;
}

template <int... Sites>
constexpr std::array<Receive, sizeof...(Sites)> receives_of(std::integer_sequence<int, Sites...>) {
    return {&receive_here<Sites>...};
}
template <int... Sites>
constexpr std::array<Start, sizeof...(Sites)> starts_of(std::integer_sequence<int, Sites...>) {
    return {&start_here<Sites>...};
}

constexpr auto k_receives = receives_of(std::make_integer_sequence<int, k_call_sites>());
constexpr auto k_starts = starts_of(std::make_integer_sequence<int, k_call_sites>());

}  // namespace

OverlapCalls OverlapCalls::of_the_program() {
    OverlapCalls calls;
    calls.send = &MPI_Send;
    calls.recv = &MPI_Recv;
    calls.isend = &MPI_Isend;
    calls.irecv = &MPI_Irecv;
    calls.test = &MPI_Test;
    calls.wait = &MPI_Wait;
    calls.waitall = &MPI_Waitall;
    calls.barrier = &MPI_Barrier;
    return calls;
}

OverlapCalls OverlapCalls::straight() {
    OverlapCalls calls;
    find_in_libmpi(calls.send, "PMPI_Send");
    find_in_libmpi(calls.recv, "PMPI_Recv");
    find_in_libmpi(calls.isend, "PMPI_Isend");
    find_in_libmpi(calls.irecv, "PMPI_Irecv");
    find_in_libmpi(calls.test, "PMPI_Test");
    find_in_libmpi(calls.wait, "PMPI_Wait");
    find_in_libmpi(calls.waitall, "PMPI_Waitall");
    find_in_libmpi(calls.barrier, "PMPI_Barrier");
    return calls;
}

void receive_at(int site, OverlapCalls const& calls, void* buffer, int bytes, int from) {
    k_receives.at(static_cast<std::size_t>(site))(calls, buffer, bytes, from);
}

MPI_Request start_at(int site, OverlapCalls const& calls, void* buffer, int bytes, int from) {
    return k_starts.at(static_cast<std::size_t>(site))(calls, buffer, bytes, from);
}

}  // namespace sluice::bench
