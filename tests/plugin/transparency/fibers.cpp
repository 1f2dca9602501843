// SPDX-License-Identifier: BSD-3-Clause
// An error handler leaves MPI for the program's own stack from a call that was made on another one, of a fiber; that
// stack is then gone (argument "unmap") or closed to all accesses ("prot"), and a fiber on a stack below it calls MPI.
#include <mpi.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr std::size_t k_stack = std::size_t{1} << 20;

ucontext_t program;
ucontext_t caller;
MPI_Comm refusing = MPI_COMM_NULL;
int rank = 0;

void leave(MPI_Comm*, int*, ...) {
    setcontext(&program);
}

void is_refused() {
    int value = 0;
    MPI_Send(&value, -1, MPI_INT, 0, 0, refusing);
    std::printf("rank %d came back\n", rank);
}

void calls() {
    int sum = 0, got = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Irecv(&got, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &request);
    MPI_Send(&rank, 1, MPI_INT, rank, 5, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    std::printf("rank %d sum %d got %d\n", rank, sum, got);
}

void* map_at(void* place, std::size_t bytes) {
    int const fixed = place != nullptr ? MAP_FIXED : 0;
    void* const at = mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
    if (at == MAP_FAILED) std::abort();
    return at;
}

/// Runs the function on the stack until it returns, or an error handler goes back to `here`.
void swap_to(void* stack, void (*function)(), ucontext_t& here) {
    ucontext_t fiber;
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = stack;
    fiber.uc_stack.ss_size = k_stack;
    fiber.uc_link = &here;
    makecontext(&fiber, function, 0);
    swapcontext(&here, &fiber);
}

}  // namespace

int main(int argc, char** argv) {
    bool const unmaps = argc > 1 && std::string_view(argv[1]) == "unmap";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_SELF, &refusing);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(refusing, handler);

    auto* const low = static_cast<std::byte*>(map_at(nullptr, 3 * k_stack));
    std::byte* const high = low + 2 * k_stack;
    for (int time = 0; time < 3; ++time) {
        swap_to(high, is_refused, program);
        if (unmaps)
            munmap(high, k_stack);
        else
            mprotect(high, k_stack, PROT_NONE);
        swap_to(low, calls, caller);
        map_at(high, k_stack);
    }
    MPI_Finalize();
}
