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
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "sluice/context.hpp"
#include "sluice/error.hpp"
#include "sluice/export.h"

namespace sluice {

class Tasks;

namespace tasks {
class Scheduler;
}

namespace detail {

struct TaskPromise;

/// What a spawned task shares with its handles.
struct JoinState {
    tasks::Scheduler* scheduler = nullptr;  // runs the task
    std::size_t place = 0;                  // index in the list of spawned tasks
    std::uint64_t number = 0;               // in the order of spawn()
    bool done = false;
    bool observed = false;  // a task has awaited it
    std::exception_ptr error;
    std::vector<TaskPromise*> waiting;  // tasks of the same scheduler
};

/// Room for the value of a task; it stays empty if the task throws.
template <typename T>
struct ValueRoom {
    std::optional<T> value;
};
template <>
struct ValueRoom<void> {};

template <typename T>
struct JoinValue : JoinState, ValueRoom<T> {};

template <typename T>
inline constexpr bool is_aligned_in_frames = alignof(ValueRoom<T>) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;

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

/// A task that an awaitable suspends, whatever the task returns.
class SuspendedTask {
  public:
    template <std::derived_from<TaskPromise> Promise>
    SuspendedTask(std::coroutine_handle<Promise> frame) noexcept : promise_(&frame.promise()) {}
    TaskPromise& promise() const noexcept { return *promise_; }

  private:
    TaskPromise* promise_;
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
/// The task goes on when the one of `join` has ended. Throws Error(invalid_argument) if that is one of another Tasks.
SLUICE_API void wait_for(JoinState& join, TaskPromise& task);
/// MPI_Wtime(). Throws Error(invalid_argument) before MPI_Init and after MPI_Finalize.
SLUICE_API double now();
[[noreturn]] SLUICE_API void refuse_moved_handle();

}  // namespace detail

/// A coroutine that has not begun and gives a value of type T: `co_await` of it gives what it returned with
/// `co_return`, moved. It owns its frame until it is spawned or awaited. Objects that it refers to must live until it
/// ends; parameters taken by value do.
///
///     sluice::TaskOf<double> energy(Cube& cube) { … co_return sum; }
///     double const all = co_await energy(left) + co_await energy(right);
///
/// @tparam T void or an object type that can be moved, with no more alignment than operator new gives (16 bytes)
template <typename T>
class [[nodiscard]] TaskOf {
    static_assert(std::is_void_v<T> || std::is_object_v<T>, "return a pointer instead of a reference");
    static_assert(detail::is_aligned_in_frames<T>,
                  "compilers do not align frames of coroutines more than operator new");

  public:
    struct promise_type;

    TaskOf(TaskOf&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    TaskOf& operator=(TaskOf&& other) noexcept {
        std::swap(frame_, other.frame_);
        return *this;
    }
    ~TaskOf() {
        if (frame_) frame_.destroy();
    }

    struct Awaiter;
    /// Runs the task at once inside the awaiting task, which goes on after its end with its value; an exception of the
    /// task is rethrown here.
    Awaiter operator co_await() && noexcept { return Awaiter{std::move(*this), {}}; }

  private:
    friend class Tasks;
    explicit TaskOf(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
    std::coroutine_handle<promise_type> frame_;
};

/// A task without a value, for example a step of a program.
using Task = TaskOf<void>;

/// A handle of a spawned task, which other tasks can await, also several of them. It keeps the value of the task.
template <typename T>
class TaskHandleOf {
  public:
    /// Whether the task has ended, or was destroyed with its Tasks.
    /// @throws Error invalid_argument if the handle was moved from
    bool is_done() const { return state().done; }

    struct Awaiter;
    struct MovingAwaiter;
    /// The awaiting task, one of the same Tasks, goes on when the spawned one has ended. Gives a reference to its
    /// value, which lives as long as a handle.
    /// @throws the task's exception; Error invalid_argument if the handle was moved from, if the task was destroyed
    /// with
    ///         its Tasks before it had ended, and for a task of another Tasks that has not ended: it cannot run now
    Awaiter operator co_await() const& {
        state();
        return Awaiter{{state_}};
    }
    /// `co_await std::move(handle)` moves the value out instead; no other task may await a copy of the handle then.
    MovingAwaiter operator co_await() && {
        state();
        return MovingAwaiter{{std::move(state_)}};
    }

  private:
    friend class Tasks;
    explicit TaskHandleOf(std::shared_ptr<detail::JoinValue<T>> state) : state_(std::move(state)) {}
    detail::JoinValue<T>& state() const {
        if (!state_) detail::refuse_moved_handle();
        return *state_;
    }
    std::shared_ptr<detail::JoinValue<T>> state_;
};

/// A handle of a task without a value.
using TaskHandle = TaskHandleOf<void>;

/// What readers on other ranks learn of an exception of a task that leaves Tasks::run().
enum class TaskFailure : std::uint8_t {
    told,    ///< their fetches of data that this rank has not published fail with its text, until run() is called again
    handled  ///< nothing: the program catches it and sees to it that the data are published, or calls Store::withdraw()
};

/// The scheduler of a rank: one thread runs its tasks in turns, and moves the communication of the context between
/// them. Memory: a few words, and 64 bytes for each spawned task in addition to its frame. Threads:
/// one at once may use it, as its context.
class SLUICE_API Tasks {
  public:
    /// Makes a scheduler without tasks; not collective.
    /// @param context its communication is moved between tasks; the scheduler keeps what it needs of it
    /// @param failure whether readers learn of an exception that leaves run()
    explicit Tasks(Context& context, TaskFailure failure = TaskFailure::told);
    /// Destroys the tasks that have not ended, wherever they wait. Inside one of them: when that one waits or ends, and
    /// run() throws Error(invalid_argument).
    ~Tasks();
    Tasks(Tasks const&) = delete;
    Tasks& operator=(Tasks const&) = delete;

    /// Appends a task to the ready ones. It begins in run().
    /// @param task the task, which the scheduler owns from now on
    /// @return a handle, which other tasks can await and which may be dropped
    /// @throws std::bad_alloc; Error invalid_argument for a task that was moved from or spawned before
    TaskHandle spawn(Task task);
    /// Appends a task that gives a value, which its handle keeps.
    /// @param task the task, which the scheduler owns from now on
    /// @return a handle, which other tasks can await; if it is dropped, so is the value
    /// @throws std::bad_alloc
    template <typename T>
    requires(!std::is_void_v<T>) TaskHandleOf<T> spawn(TaskOf<T> task) {
        auto state = std::make_shared<detail::JoinValue<T>>();
        if (task.frame_) task.frame_.promise().to = &state->value;
        own(task.frame_ ? &task.frame_.promise() : nullptr, state);
        task.frame_ = nullptr;
        return TaskHandleOf<T>(std::move(state));
    }

    /// Runs until all tasks have ended.
    /// @throws what a task threw. If no handle of the task exists, it is thrown at once, and the other tasks stay where
    ///         they are. If a handle exists but is never awaited, it is thrown at the end. Also Error(mpi) if an MPI
    ///         call fails, and Error(invalid_argument), which names the tasks and what each waits for, if they wait for
    ///         each other for ever: no task can run, each waits for another task or for data of this rank that are not
    ///         published, and no request, time, callback or other rank can change that. Error(invalid_argument) also if
    ///         one of its tasks calls run(), and if one calls MPI_Finalize or destroys the Tasks.
    void run();

    /// The number of spawned tasks that have not ended.
    std::uint64_t alive() const noexcept;
    /// The number of resumptions so far.
    std::uint64_t switches() const noexcept;

  private:
    /// Takes over the frame of a task, whose end is told to `state`.
    void own(detail::TaskPromise* task, std::shared_ptr<detail::JoinState> state);

    std::shared_ptr<tasks::Scheduler> scheduler_;  // run() keeps it, too
};

namespace detail {

/// The value of a task goes to where its caller or its handle has room for it. So no promise needs more alignment than
/// the scheduler's part of it, from whose address the frame is found.
template <typename T>
struct ResultPromise : TaskPromise {
    std::optional<T>* to = nullptr;  // set when the task is spawned or awaited

    template <std::convertible_to<T> From = T>
    void return_value(From&& value) {
        to->emplace(std::forward<From>(value));
    }
};
template <>
struct ResultPromise<void> : TaskPromise {
    void return_void() const noexcept {}
};

/// The end of a task: its caller goes on, or its handle is told.
struct FinalAwaiter {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(SuspendedTask ended) const noexcept {
        TaskPromise& task = ended.promise();
        if (task.caller) return task.caller;
        detail::end(task);  // destroys the frame
        return std::noop_coroutine();
    }
    void await_resume() const noexcept {}
};

}  // namespace detail

template <typename T>
struct TaskOf<T>::promise_type : detail::ResultPromise<T> {
    TaskOf get_return_object() { return TaskOf(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    detail::FinalAwaiter final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { this->error = std::current_exception(); }
};

template <typename T>
struct TaskOf<T>::Awaiter {
    TaskOf task;
    [[no_unique_address]] detail::ValueRoom<T> result;
    bool await_ready() const noexcept { return !task.frame_; }
    std::coroutine_handle<> await_suspend(detail::SuspendedTask caller) noexcept {
        static_assert(alignof(promise_type) == alignof(detail::TaskPromise), "a frame is found from its promise");
        promise_type& promise = task.frame_.promise();
        promise.caller = caller.promise().handle();
        promise.scheduler = caller.promise().scheduler;
        if constexpr (!std::is_void_v<T>) promise.to = &result.value;
        return task.frame_;
    }
    T await_resume() {
        if (!task.frame_)
            throw Error(ErrorCode::invalid_argument,
                        "a task is awaited that has been moved from: each task is awaited or spawned once");
        if (task.frame_.promise().error) std::rethrow_exception(task.frame_.promise().error);
        if constexpr (!std::is_void_v<T>) return *std::move(result.value);
    }
};

template <typename T>
struct TaskHandleOf<T>::Awaiter {
    std::shared_ptr<detail::JoinValue<T>> state;
    bool await_ready() const noexcept { return state->done; }
    void await_suspend(detail::SuspendedTask waiting) const { detail::wait_for(*state, waiting.promise()); }
    std::conditional_t<std::is_void_v<T>, void, std::add_lvalue_reference_t<T const>> await_resume() const {
        state->observed = true;
        if (state->error) std::rethrow_exception(state->error);
        if constexpr (!std::is_void_v<T>) return *state->value;
    }
};

template <typename T>
struct TaskHandleOf<T>::MovingAwaiter : Awaiter {
    T await_resume() const {
        Awaiter::await_resume();
        if constexpr (!std::is_void_v<T>) return *std::move(this->state->value);
    }
};

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
    void await_suspend(detail::SuspendedTask waiting) { detail::wait_for(*request_, status_, waiting.promise()); }
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
    void await_suspend(detail::SuspendedTask waiting) const { detail::wait_until(wtime_, waiting.promise()); }
    void await_resume() const noexcept {}

  private:
    double wtime_;
};

/// What yielded() returns.
struct [[nodiscard]] TurnAwaiter {
    bool await_ready() const noexcept { return false; }
    void await_suspend(detail::SuspendedTask waiting) const noexcept { detail::make_ready(waiting.promise()); }
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
/// @throws Error invalid_argument before MPI_Init and after MPI_Finalize
inline TimeAwaiter after(std::chrono::duration<double> seconds) {
    return TimeAwaiter(detail::now() + seconds.count());
}

/// `co_await sluice::yielded()` lets the other ready tasks go first, and communication advance.
inline TurnAwaiter yielded() noexcept {
    return {};
}

}  // namespace sluice
