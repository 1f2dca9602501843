// SPDX-License-Identifier: BSD-3-Clause
#include "engine/entry.hpp"

#include <string>

#include "engine/context_state.hpp"
#include "sluice/error.hpp"

namespace sluice::engine {

namespace {

[[noreturn]] void refuse_after_finalize(int rank, char const* call) {
    throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(rank) + " calls " + call +
                                                 " after MPI_Finalize: call MPI_Finalize after the last use of Sluice");
}

[[noreturn]] void refuse_second_thread(int rank, char const* call, char const* other) {
    throw Error(ErrorCode::invalid_argument,
                "rank " + std::to_string(rank) + ": a thread calls " + call + " while another thread is inside " +
                    (other != nullptr ? other : "another call") +
                    " on the same context: one thread at once may use a context and the objects made on it; give each "
                    "thread a context of its own, or use a lock");
}

}  // namespace

Entry::Entry(ContextState& state, char const* call) {
    if (state.process().mpi_has_ended()) refuse_after_finalize(state.rank(), call);
    EntryGuard& guard = state.guard();
    std::uintptr_t const me = EntryGuard::this_thread();
    std::uintptr_t inside = 0;
    if (guard.thread_.compare_exchange_strong(inside, me, std::memory_order_acquire)) {
        guard.call_.store(call, std::memory_order_relaxed);
        guard_ = &guard;
    } else if (inside != me) {
        refuse_second_thread(state.rank(), call, guard.call_.load(std::memory_order_relaxed));
    }
}

}  // namespace sluice::engine
