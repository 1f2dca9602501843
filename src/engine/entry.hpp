// SPDX-License-Identifier: BSD-3-Clause
/// Each call of the program into a context, or into an object that was made on one, begins with an Entry: it finds a
/// second thread and calls after MPI_Finalize before they can do harm.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace sluice::engine {

class ContextState;

/// Which thread is inside a context, and in which call. A context has one.
class EntryGuard {
  public:
    /// True if a thread other than the caller is inside.
    bool is_taken_by_another() const noexcept {
        std::uintptr_t const thread = thread_.load(std::memory_order_acquire);
        return thread != 0 && thread != this_thread();
    }
    /// The call in which the thread of the caller is.
    char const* call() const noexcept { return call_.load(std::memory_order_relaxed); }

  private:
    friend class Entry;
    static std::uintptr_t this_thread() noexcept { return static_cast<std::uintptr_t>(pthread_self()); }

    std::atomic<std::uintptr_t> thread_{0};  // 0: no thread is inside
    std::atomic<char const*> call_{nullptr};
};

/// A call is inside as long as this lives. Calls of the same thread may nest, because callbacks and tasks of the
/// program call the library again. Costs one exchange of an atomic word, one store and two loads.
class Entry {
  public:
    /// `call` names the function for messages, and is a literal. Throws Error(invalid_argument) if another thread is
    /// inside, or if MPI has been finalized.
    Entry(ContextState& state, char const* call);
    ~Entry() {
        if (guard_ != nullptr) guard_->thread_.store(0, std::memory_order_release);
    }
    Entry(Entry const&) = delete;
    Entry& operator=(Entry const&) = delete;

  private:
    EntryGuard* guard_ = nullptr;  // null for a call inside another one
};

}  // namespace sluice::engine
