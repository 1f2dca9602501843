// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Tasks: many small coroutines on one rank, each resumed when the data it waits for arrive (message-driven execution;
/// L. V. Kale, "The virtualization model of parallel programming", 2002). A rank with many tasks computes on while some
/// of them wait.
///
///     spawn ──> ready ──> running ──> done
///                 ^          │ co_await fetch, request, task, time, yielded
///                 └── waiting ┘
///
///     sluice::Task step(Cube& cube) {
///         auto faces = co_await store.fetch_all(cube.neighbours());
///         relax(cube, faces);
///     }
///     sluice::Tasks tasks(context);
///     for (Cube& cube : cubes) tasks.spawn(step(cube));
///     tasks.run();
#pragma once

#include <mpi.h>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "sluice/context.hpp"
#include "sluice/export.h"

namespace sluice {

class Tasks;

namespace tasks {
class Scheduler;
}

namespace detail {

struct JoinState;

/// The scheduler's part of a coroutine's frame: 56 bytes.
struct TaskPromise {
    tasks::Scheduler* scheduler = nullptr;  ///< runs it; set when it is spawned or awaited
    TaskPromise* next = nullptr;            ///< next in the queue of ready tasks
    std::coroutine_handle<> caller;         ///< the task that awaits this one; null if none does
    std::shared_ptr<JoinState> join;        ///< null unless the task was spawned
    std::exception_ptr error;

    std::coroutine_handle<TaskPromise> handle() noexcept {
        return std::coroutine_handle<TaskPromise>::from_promise(*this);
    }
};

/// What awaitables tell the scheduler of a task: the task can go on,
SLUICE_API void make_ready(TaskPromise& task) noexcept;
/// or can go on when `request` is complete. `request` becomes MPI_REQUEST_NULL then; it and `status` must live until
/// then.
SLUICE_API void wait_for(MPI_Request& request, MPI_Status& status, TaskPromise& task);
/// or can go on when MPI_Wtime() is at least `wtime`,
SLUICE_API void wait_until(double wtime, TaskPromise& task);
/// or has ended, and its frame is destroyed.
SLUICE_API void end(TaskPromise& task) noexcept;

}  // namespace detail

/// A coroutine that has not begun. It owns its frame until it is spawned or awaited. Objects that it refers to must
/// live until it ends; parameters taken by value do.
class [[nodiscard]] Task {
  public:
    struct promise_type;

    Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    Task& operator=(Task&& other) noexcept {
        std::swap(frame_, other.frame_);
        return *this;
    }
    ~Task() {
        if (frame_) frame_.destroy();
    }

    struct Awaiter;
    /// Runs the task at once inside the awaiting task, which goes on after its end; an exception of the task is
    /// rethrown here.
    Awaiter operator co_await() && noexcept;

  private:
    friend class Tasks;
    explicit Task(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
    std::coroutine_handle<promise_type> frame_;
};

/// A handle of a spawned task, which other tasks can await.
class TaskHandle {
  public:
    bool is_done() const noexcept;

    struct Awaiter;
    /// The awaiting task goes on when the spawned one has ended. Rethrows its exception.
    Awaiter operator co_await() const noexcept;

  private:
    friend class Tasks;
    explicit TaskHandle(std::shared_ptr<detail::JoinState> state) : state_(std::move(state)) {}
    std::shared_ptr<detail::JoinState> state_;
};

/// The scheduler of a rank: one thread runs its tasks in turns, and moves the communication of the context between
/// them. Memory: a few words, and 64 bytes for each spawned task in addition to its frame. It belongs to one thread.
class SLUICE_API Tasks {
  public:
    /// Makes a scheduler without tasks; not collective.
    /// @param context its communication is moved between tasks; it must outlive the scheduler
    explicit Tasks(Context& context);
    /// Destroys the tasks that have not ended, wherever they wait.
    ~Tasks();
    Tasks(Tasks const&) = delete;
    Tasks& operator=(Tasks const&) = delete;

    /// Appends a task to the ready ones. It begins in run().
    /// @param task the task, which the scheduler owns from now on
    /// @return a handle, which other tasks can await and which may be dropped
    /// @throws std::bad_alloc
    TaskHandle spawn(Task task);

    /// Runs until all tasks have ended.
    /// @throws what a task threw. If no handle of the task exists, it is thrown at once, and the other tasks stay where
    ///         they are. If a handle exists but is never awaited, it is thrown at the end. Also Error(mpi) if an MPI
    ///         call fails.
    void run();

    /// The number of spawned tasks that have not ended.
    std::uint64_t alive() const noexcept;
    /// The number of resumptions so far.
    std::uint64_t switches() const noexcept;

  private:
    std::unique_ptr<tasks::Scheduler> scheduler_;
};

namespace detail {

struct JoinState {
    std::size_t place = 0;  // index in the list of spawned tasks
    bool done = false;
    bool observed = false;  // a task has awaited it
    std::exception_ptr error;
    std::vector<TaskPromise*> waiting;
};

}  // namespace detail

struct Task::promise_type : detail::TaskPromise {
    struct Final {
        bool await_ready() const noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> frame) const noexcept {
            promise_type& task = frame.promise();
            if (task.caller) return task.caller;
            detail::end(task);  // destroys the frame
            return std::noop_coroutine();
        }
        void await_resume() const noexcept {}
    };
    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    Final final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { error = std::current_exception(); }
};

struct Task::Awaiter {
    Task task;
    bool await_ready() const noexcept { return !task.frame_; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> caller) noexcept {
        promise_type& promise = task.frame_.promise();
        promise.caller = caller;
        promise.scheduler = caller.promise().scheduler;
        return task.frame_;
    }
    void await_resume() const {
        if (task.frame_ && task.frame_.promise().error) std::rethrow_exception(task.frame_.promise().error);
    }
};

inline Task::Awaiter Task::operator co_await() && noexcept {
    return Awaiter{std::move(*this)};
}

struct TaskHandle::Awaiter {
    std::shared_ptr<detail::JoinState> state;
    bool await_ready() const noexcept { return state->done; }
    void await_suspend(std::coroutine_handle<Task::promise_type> waiting) const {
        state->waiting.push_back(&waiting.promise());
    }
    void await_resume() const {
        state->observed = true;
        if (state->error) std::rethrow_exception(state->error);
    }
};

inline bool TaskHandle::is_done() const noexcept {
    return state_->done;
}

inline TaskHandle::Awaiter TaskHandle::operator co_await() const noexcept {
    return Awaiter{state_};
}

/// What completed() returns.
class [[nodiscard]] RequestAwaiter {
  public:
    explicit RequestAwaiter(MPI_Request& request) noexcept : request_(&request) {}
    RequestAwaiter(RequestAwaiter const&) = delete;
    RequestAwaiter& operator=(RequestAwaiter const&) = delete;
    bool await_ready() noexcept {
        int done = 0;  // also set for a null or inactive request
        return MPI_Test(request_, &done, &status_) == MPI_SUCCESS && done != 0;
    }
    void await_suspend(std::coroutine_handle<Task::promise_type> waiting) {
        detail::wait_for(*request_, status_, waiting.promise());
    }
    MPI_Status await_resume() const noexcept { return status_; }

  private:
    MPI_Request* request_;
    MPI_Status status_{};
};

/// What after() returns.
class [[nodiscard]] TimeAwaiter {
  public:
    explicit TimeAwaiter(double wtime) noexcept : wtime_(wtime) {}
    bool await_ready() const noexcept { return MPI_Wtime() >= wtime_; }
    void await_suspend(std::coroutine_handle<Task::promise_type> waiting) const {
        detail::wait_until(wtime_, waiting.promise());
    }
    void await_resume() const noexcept {}

  private:
    double wtime_;
};

/// What yielded() returns.
struct [[nodiscard]] TurnAwaiter {
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<Task::promise_type> waiting) const noexcept {
        detail::make_ready(waiting.promise());
    }
    void await_resume() const noexcept {}
};

/// `co_await sluice::completed(request)` goes on when an MPI request is complete, and returns its status.
/// @param request the program owns it; it must live until then and is MPI_REQUEST_NULL afterwards (a persistent one is
///                inactive)
inline RequestAwaiter completed(MPI_Request& request) noexcept {
    return RequestAwaiter(request);
}

/// `co_await sluice::after(2ms)` goes on when at least that time has passed.
/// @param seconds the time from now on; any std::chrono duration converts
inline TimeAwaiter after(std::chrono::duration<double> seconds) noexcept {
    return TimeAwaiter(MPI_Wtime() + seconds.count());
}

/// `co_await sluice::yielded()` lets the other ready tasks go first, and communication advance.
inline TurnAwaiter yielded() noexcept {
    return {};
}

}  // namespace sluice
