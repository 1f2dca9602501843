// SPDX-License-Identifier: BSD-3-Clause
/// What fetch sets and sets of paged blocks have in common: a task or a callback waits for several parts.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>

#include "sluice/tasks.hpp"

namespace sluice::tasks {

/// A set of parts in a queue: granted as a whole, complete when each part is there or has failed.
///
///     posted ──> queue ──> granted ──> complete ──> its task goes on, or its callback is called
template <typename Result>
struct Waiting {
    std::size_t missing = 0;             // parts that are not there yet
    std::uint32_t passed_over = 0;       // how often a set that was posted later was granted first
    std::atomic<bool> complete = false;  // afterwards only the thread of the program reads the set
    bool abandoned = false;              // no task waits any more
    std::exception_ptr error;
    detail::TaskPromise* task = nullptr;
    std::function<void(Result, std::exception_ptr)> done;

    void suspend(detail::SuspendedTask waiting) noexcept { task = &waiting.promise(); }
    /// The promise of the task that waits; null if none does.
    detail::TaskPromise const* waiting_task() const noexcept { return abandoned ? nullptr : task; }
    void resume() noexcept {
        if (task != nullptr && !abandoned) detail::make_ready(*task);
    }
    void rethrow() const {
        if (error) std::rethrow_exception(error);
    }
};

}  // namespace sluice::tasks
