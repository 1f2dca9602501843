// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/scheduler.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <new>
#include <string>
#include <utility>

#include "base/text/exception_text.hpp"
#include "engine/context_state.hpp"
#include "engine/patience.hpp"
#include "mpi/mpi.hpp"
#include "sluice/error.hpp"
#include "tasks/endless.hpp"

namespace sluice::tasks {

namespace {

// A look at communication costs as much as several switches between tasks.
constexpr std::uint64_t k_switches_between_looks = 16;
// An idle rank yields its core after this many looks without result.
constexpr std::uint64_t k_looks_before_yield = 50;
// Looks in vain until the first question whether the tasks wait for ever. Its cost doubles the looks until the next.
constexpr std::uint64_t k_looks_before_question = 64;
// Seconds until a stall. More than usual, because other tasks of this rank wait for an operation that ends by itself.
constexpr double k_stall_beside_others = 0.1;

class Running {
  public:
    explicit Running(std::atomic<bool>& now) noexcept : now_(&now) { now.store(true, std::memory_order_release); }
    ~Running() { now_->store(false, std::memory_order_release); }
    Running(Running const&) = delete;
    Running& operator=(Running const&) = delete;

  private:
    std::atomic<bool>* now_;
};

/// Makes room for `size` elements, so that resize() allocates nothing.
template <typename T>
void grow(std::vector<T>& list, std::size_t size) {
    if (size > list.capacity()) list.reserve(2 * size);
}

}  // namespace

Scheduler::Scheduler(std::shared_ptr<engine::ContextState> context, TaskFailure failure)
    : context_(std::move(context)), failure_is_(failure) {}

Scheduler::~Scheduler() {
    context_->tell_if_late("Tasks");
    if (spawned_.empty()) return;
    std::exception_ptr const gone = std::make_exception_ptr(
        Error(ErrorCode::invalid_argument, "a task is awaited that was destroyed with its Tasks before it had ended"));
    for (detail::TaskPromise* const task : spawned_) {
        task->join->done = true;
        task->join->error = gone;
    }
    // Destroying a frame destroys the frames it awaits; the objects in it may touch peers' queues, but not this one.
    for (detail::TaskPromise* const task : spawned_)
        task->handle().destroy();
    spawned_.clear();
}

void Scheduler::spawn(detail::TaskPromise& task, std::shared_ptr<detail::JoinState> join) {
    join->scheduler = this;
    join->place = spawned_.size();
    join->number = spawned_ever_++;
    spawned_.push_back(&task);
    task.scheduler = this;
    task.join = std::move(join);
    ++alive_;
    make_ready(task);
}

void Scheduler::make_ready(detail::TaskPromise& task) noexcept {
    task.next = nullptr;
    if (last_ready_ != nullptr)
        last_ready_->next = &task;
    else
        first_ready_ = &task;
    last_ready_ = &task;
}

void Scheduler::wait_for(MPI_Request& request, MPI_Status& status, detail::TaskPromise& task) {
    requests_.push_back({&request, &status, &task});
    try {
        grow(handles_, requests_.size());
        grow(statuses_, requests_.size());
        grow(done_, requests_.size());
    } catch (std::bad_alloc const&) {
        requests_.pop_back();
        throw;
    }
}

void Scheduler::wait_until(double wtime, detail::TaskPromise& task) {
    timers_.push_back({wtime, timers_made_++, &task});
    std::push_heap(timers_.begin(), timers_.end(), std::greater<>());
}

void Scheduler::end(detail::TaskPromise& task) noexcept {
    detail::JoinState& join = *task.join;
    join.done = true;
    join.error = task.error;
    if (task.error && task.join.use_count() == 1) {
        if (!failure_) failure_ = task.error;
    } else if (task.error) {
        keep_failed(task.join);
    }
    for (detail::TaskPromise* const waiting : join.waiting)
        make_ready(*waiting);
    spawned_.back()->join->place = join.place;
    spawned_[join.place] = spawned_.back();
    spawned_.pop_back();
    --alive_;
    task.handle().destroy();
}

/// Without memory to wait for a task that observes it the error is thrown at once.
void Scheduler::keep_failed(std::shared_ptr<detail::JoinState> const& join) noexcept {
    try {
        failed_.push_back(join);
    } catch (std::bad_alloc const&) {
        if (!failure_) failure_ = join->error;
    }
}

void Scheduler::resume_next() {
    detail::TaskPromise& task = *first_ready_;
    first_ready_ = task.next;
    if (first_ready_ == nullptr) last_ready_ = nullptr;
    ++switches_;
    task.handle().resume();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

bool Scheduler::test_requests() {
    if (requests_.empty()) return false;
    auto const count = static_cast<int>(requests_.size());
    handles_.clear();
    for (Request const& request : requests_)
        handles_.push_back(*request.request);
    statuses_.resize(requests_.size());
    done_.resize(requests_.size());
    int number = 0;
    mpi::check(MPI_Testsome(count, handles_.data(), &number, done_.data(), statuses_.data()), "MPI_Testsome");
    for (int i = 0; i < number; ++i) {
        Request& request = requests_[static_cast<std::size_t>(done_[static_cast<std::size_t>(i)])];
        *request.request = handles_[static_cast<std::size_t>(done_[static_cast<std::size_t>(i)])];
        *request.status = statuses_[static_cast<std::size_t>(i)];
        make_ready(*request.task);
        request.task = nullptr;
    }
    std::erase_if(requests_, [](Request const& request) { return request.task == nullptr; });
    return number > 0;
}

bool Scheduler::test_timers() {
    bool moved = false;
    while (!timers_.empty() && timers_.front().wtime <= MPI_Wtime()) {
        make_ready(*timers_.front().task);
        std::pop_heap(timers_.begin(), timers_.end(), std::greater<>());
        timers_.pop_back();
        moved = true;
    }
    return moved;
}

bool Scheduler::look_around() {
    bool moved = context_->progress().poll();
    moved |= test_requests();
    moved |= test_timers();
    return moved;
}

/// Readers of other ranks would wait for ever for what the task would have published.
void Scheduler::run() {
    if (runs())
        throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(context_->rank()) +
                                                     ": a task calls Tasks::run of a Tasks that runs already: co_await "
                                                     "the task that it waits for");
    Running const running(runs_);
    context_->progress().give_up({});  // another scheduler may have given up
    try {
        run_to_the_end();
    } catch (...) {
        if (failure_is_ == TaskFailure::told) tell_readers(std::current_exception());
        throw;
    }
}

void Scheduler::tell_readers(std::exception_ptr const& error) noexcept {
    if (context_->process().mpi_has_ended()) return;
    try {
        context_->progress().give_up(base::text_of(error));
    } catch (std::exception const&) {
        // MPI has failed, or there is no memory. The program gets the task's exception.
    }
}

void Scheduler::run_to_the_end() {
    std::uint64_t next_look = switches_;
    engine::ProgressPatience patience(context_->progress(), k_looks_before_yield);
    std::uint64_t in_vain = 0;
    std::uint64_t next_question = k_looks_before_question;
    while (alive_ > 0) {
        if (first_ready_ != nullptr) {
            resume_next();
            throw_if_over();
            if (switches_ < next_look) continue;
        }
        next_look = switches_ + k_switches_between_looks;
        bool const moved = look_around() || first_ready_ != nullptr;
        if (!moved && alive_ == 0) break;
        in_vain = moved ? 0 : in_vain + 1;
        if (moved) next_question = k_looks_before_question;
        if (in_vain >= next_question) {
            throw_if_endless();
            next_question *= 2;
        }
        bool const beside_others = !requests_.empty() || !timers_.empty();
        patience.after(moved, beside_others ? k_stall_beside_others : engine::ProgressPatience::k_stall);
    }
    throw_unobserved();
}

/// Nothing can be looked at any more after a task has called MPI_Finalize.
void Scheduler::throw_if_over() const {
    bool const mpi_has_ended = context_->process().mpi_has_ended();
    if (!is_left_ && !mpi_has_ended) return;
    throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(context_->rank()) + ": a task " +
                                                 (is_left_ ? "destroys its Tasks" : "calls MPI_Finalize") +
                                                 " while Tasks::run is under way: do it when run() has returned");
}

void Scheduler::throw_if_endless() {
    if (first_ready_ != nullptr || !requests_.empty() || !timers_.empty()) return;
    try {
        kernel::EndlessWaits waits;
        context_->progress().tell_endless(waits);
        if (waits.all_are_endless()) tasks::throw_if_endless(*this, waits, context_->rank());
    } catch (std::bad_alloc const&) {
        return;  // the question comes again
    }
}

void Scheduler::throw_unobserved() {
    for (auto const& join : std::exchange(failed_, {}))
        if (!join->observed) std::rethrow_exception(join->error);
}

}  // namespace sluice::tasks
