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
#include <deque>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "sluice/context.hpp"
#include "sluice/export.h"

namespace sluice {

class Tasks;

namespace detail {

struct JoinState;

/// The scheduler's part of a coroutine's frame: 56 bytes.
struct TaskPromise {
    Tasks* tasks = nullptr;           ///< the scheduler that runs it; set when it is spawned or awaited
    TaskPromise* next = nullptr;      ///< next in the queue of ready tasks
    std::coroutine_handle<> caller;   ///< the task that awaits this one; null if none does
    std::shared_ptr<JoinState> join;  ///< null unless the task was spawned
    std::exception_ptr error;

    std::coroutine_handle<TaskPromise> handle() noexcept {
        return std::coroutine_handle<TaskPromise>::from_promise(*this);
    }
};

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
/// them. Memory: a few words, and 64 bytes for each spawned task beside its frame. Not thread-safe.
class SLUICE_API Tasks {
  public:
    explicit Tasks(Context& context);
    /// Destroys the tasks that have not ended, wherever they wait.
    ~Tasks();
    Tasks(Tasks const&) = delete;
    Tasks& operator=(Tasks const&) = delete;

    /// Appends a task to the ready ones. Throws std::bad_alloc.
    TaskHandle spawn(Task task);

    /// Runs until all tasks have ended. If a task ends by an exception and no handle of it exists, this rethrows the
    /// exception at once, and the other tasks stay where they are. If a handle exists but is never awaited, this
    /// rethrows it at the end.
    void run();

    std::uint64_t alive() const noexcept { return alive_; }
    /// The number of resumptions so far.
    std::uint64_t switches() const noexcept { return switches_; }

    /// Called by awaitables: `task` can go on.
    void make_ready(detail::TaskPromise& task) noexcept;
    /// Called by awaitables: `task` can go on when `request` is complete. `request` becomes MPI_REQUEST_NULL then; it
    /// and `status` must live until then.
    void wait_for(MPI_Request& request, MPI_Status& status, detail::TaskPromise& task);
    void wait_until(double wtime, detail::TaskPromise& task);

  private:
    friend struct Task::promise_type;
    struct Request {
        MPI_Request* request;
        MPI_Status* status;
        detail::TaskPromise* task;
    };
    struct Timer {
        double wtime;
        std::uint64_t order;
        detail::TaskPromise* task;
        bool operator>(Timer const& other) const noexcept {
            return wtime != other.wtime ? wtime > other.wtime : order > other.order;
        }
    };

    void resume_next();
    bool look_around();
    bool test_requests();
    bool test_timers();
    void ended(detail::TaskPromise& task) noexcept;
    void throw_unobserved();
    void destroy_all() noexcept;

    Context* context_;
    detail::TaskPromise* first_ready_ = nullptr;
    detail::TaskPromise* last_ready_ = nullptr;
    std::vector<detail::TaskPromise*> spawned_;  // the living tasks, each at the index in its JoinState
    std::vector<Request> requests_;
    std::vector<MPI_Request> handles_;
    std::vector<MPI_Status> statuses_;
    std::vector<int> done_;
    std::vector<Timer> timers_;  // a heap
    std::exception_ptr failure_;
    std::vector<std::shared_ptr<detail::JoinState>> failed_;
    std::uint64_t alive_ = 0;
    std::uint64_t switches_ = 0;
    std::uint64_t timers_made_ = 0;
};

namespace detail {

struct JoinState {
    std::size_t place = 0;  // index in Tasks::spawned_
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
            task.tasks->ended(task);  // destroys the frame
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
        promise.tasks = caller.promise().tasks;
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

/// `co_await sluice::completed(request)` goes on when the MPI request is complete, and returns its status. The program
/// owns the request, which is MPI_REQUEST_NULL afterwards (a persistent one is inactive).
struct completed {
    explicit completed(MPI_Request& request) noexcept : request_(&request) {}
    bool await_ready() noexcept {
        int done = 0;  // also set for a null or inactive request
        return MPI_Test(request_, &done, &status_) == MPI_SUCCESS && done != 0;
    }
    void await_suspend(std::coroutine_handle<Task::promise_type> waiting) {
        waiting.promise().tasks->wait_for(*request_, status_, waiting.promise());
    }
    MPI_Status await_resume() const noexcept { return status_; }

  private:
    MPI_Request* request_;
    MPI_Status status_{};
};

/// `co_await sluice::after(2ms)` goes on when at least that time has passed.
struct after {
    explicit after(std::chrono::duration<double> seconds) noexcept : wtime_(MPI_Wtime() + seconds.count()) {}
    bool await_ready() const noexcept { return MPI_Wtime() >= wtime_; }
    void await_suspend(std::coroutine_handle<Task::promise_type> waiting) const {
        waiting.promise().tasks->wait_until(wtime_, waiting.promise());
    }
    void await_resume() const noexcept {}

  private:
    double wtime_;
};

/// `co_await sluice::yielded()` lets the other ready tasks go first, and communication advance.
struct yielded {
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<Task::promise_type> waiting) const noexcept {
        waiting.promise().tasks->make_ready(waiting.promise());
    }
    void await_resume() const noexcept {}
};

}  // namespace sluice
