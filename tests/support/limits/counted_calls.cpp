// SPDX-License-Identifier: BSD-3-Clause
#include "support/limits/counted_calls.hpp"

#include <mpi.h>

#include <cstdlib>
#include <new>

namespace sluice::tests {

namespace {

thread_local Calls t_calls;
thread_local std::uint64_t t_allocations_left = 0;
enum class Failing { none, one, all };
thread_local Failing t_failing = Failing::none;
thread_local bool t_has_failed = false;
thread_local unsigned t_own = 0;

}  // namespace

Calls calls_so_far() noexcept {
    return t_calls;
}

namespace {

void fail(Failing which, std::uint64_t good) noexcept {
    t_allocations_left = good;
    t_failing = which;
    t_has_failed = false;
}

}  // namespace

void fail_an_allocation(std::uint64_t good) noexcept {
    fail(Failing::one, good);
}

void fail_all_allocations(std::uint64_t good) noexcept {
    fail(Failing::all, good);
}

bool fail_no_allocation() noexcept {
    t_failing = Failing::none;
    return t_has_failed;
}

OwnAllocations::OwnAllocations() noexcept {
    ++t_own;
}

OwnAllocations::~OwnAllocations() {
    --t_own;
}

namespace {

void* allocate(std::size_t bytes) {
    if (t_own == 0) {
        ++t_calls.allocations;
        if (t_failing != Failing::none && t_allocations_left-- == 0) {
            t_has_failed = true;
            t_allocations_left = 0;
            if (t_failing == Failing::one) t_failing = Failing::none;
            throw std::bad_alloc();
        }
    }
    void* const memory = std::malloc(bytes > 0 ? bytes : 1);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

}  // namespace

}  // namespace sluice::tests

// Not inlined, because GCC would take free() for the wrong partner of operator new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    return sluice::tests::allocate(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

using sluice::tests::t_calls;

extern "C" {

int MPI_Isend(void const* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
    ++t_calls.messages;
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}
int MPI_Issend(void const* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
    ++t_calls.messages;
    return PMPI_Issend(data, count, type, to, tag, comm, request);
}
int MPI_Send(void const* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    ++t_calls.messages;
    return PMPI_Send(data, count, type, to, tag, comm);
}
int MPI_Allreduce(void const* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    ++t_calls.collectives;
    return PMPI_Allreduce(in, out, count, type, op, comm);
}
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    ++t_calls.collectives;
    return PMPI_Bcast(data, count, type, root, comm);
}
int MPI_Barrier(MPI_Comm comm) {
    ++t_calls.collectives;
    return PMPI_Barrier(comm);
}
int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
    ++t_calls.collectives;
    return PMPI_Ibarrier(comm, request);
}
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
    ++t_calls.communicators;
    return PMPI_Comm_create_group(comm, group, tag, made);
}

}  // extern "C"
