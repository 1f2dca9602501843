// SPDX-License-Identifier: BSD-3-Clause
// Calls of MPI from functions with names of a thousand letters, on a thread and on a fiber with a stack of 64 KiB, as
// HPX and Argobots make them.
#include <mpi.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace {

constexpr std::size_t k_stack = std::size_t{64} << 10;
constexpr unsigned long k_large = 100000000000000000;

int rank = 0;
int ranks = 0;
ucontext_t program;

/// Its numbers make the name long.
template <unsigned long... numbers>
[[gnu::noinline]] void meets() {
    MPI_Barrier(MPI_COMM_WORLD);
    std::printf("rank %d has met\n", rank);
}

template <unsigned long... numbers>
[[gnu::noinline]] void sends() {
    int const right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    int got = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&got, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &request);
    MPI_Send(&rank, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    std::printf("rank %d got %d\n", rank, got);
}

template <unsigned long first, unsigned long... numbers>
void calls(std::integer_sequence<unsigned long, numbers...>) {
    meets<(first + k_large * (numbers + 1))...>();
    sends<(first + k_large * (numbers + 1))...>();
}

void* on_thread(void*) {
    calls<1>(std::make_integer_sequence<unsigned long, 44>());
    return nullptr;
}

void on_fiber() {
    calls<2>(std::make_integer_sequence<unsigned long, 44>());
}

/// Below it is memory that may not be touched.
void* guarded_stack() {
    auto* const at = static_cast<std::byte*>(mmap(nullptr, 2 * k_stack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (at == MAP_FAILED || mprotect(at + k_stack, k_stack, PROT_READ | PROT_WRITE) != 0) std::abort();
    return at + k_stack;
}

}  // namespace

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, guarded_stack(), k_stack);
    if (pthread_create(&thread, &attributes, on_thread, nullptr) != 0) std::abort();
    pthread_join(thread, nullptr);

    ucontext_t fiber;
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = guarded_stack();
    fiber.uc_stack.ss_size = k_stack;
    fiber.uc_link = &program;
    makecontext(&fiber, on_fiber, 0);
    swapcontext(&program, &fiber);
    MPI_Finalize();
}
