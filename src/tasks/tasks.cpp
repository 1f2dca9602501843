// SPDX-License-Identifier: BSD-3-Clause
#include "sluice/tasks.hpp"

#include <memory>
#include <new>
#include <string>
#include <utility>

#include "engine/context_state.hpp"
#include "engine/told_line.hpp"
#include "sluice/error.hpp"
#include "tasks/scheduler.hpp"

namespace sluice {

namespace detail {

void make_ready(TaskPromise& task) noexcept {
    task.scheduler->make_ready(task);
}

void wait_for(MPI_Request& request, MPI_Status& status, TaskPromise& task) {
    task.scheduler->wait_for(request, status, task);
}

void wait_until(double wtime, TaskPromise& task) {
    task.scheduler->wait_until(wtime, task);
}

void end(TaskPromise& task) noexcept {
    task.scheduler->end(task);
}

void wait_for(JoinState& join, TaskPromise& task) {
    if (join.scheduler != task.scheduler)
        throw Error(
            ErrorCode::invalid_argument,
            "a task waits for a task of another Tasks object, which cannot run meanwhile: spawn both on one Tasks");
    join.waiting.push_back(&task);
}

double now() {
    int begun = 0;
    int ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    if (begun == 0 || ended != 0)
        throw Error(ErrorCode::invalid_argument,
                    std::string("sluice::after is called ") + (ended != 0 ? "after MPI_Finalize" : "before MPI_Init"));
    return MPI_Wtime();
}

void refuse_moved_handle() {
    throw Error(ErrorCode::invalid_argument,
                "a TaskHandle is used that was moved from: use the one that it was moved to, or await a copy");
}

}  // namespace detail

Tasks::Tasks(Context& context, TaskFailure failure)
    : scheduler_(std::make_shared<tasks::Scheduler>(engine::ContextState::shared_by(context), failure)) {}

Tasks::~Tasks() {
    engine::ContextState& context = scheduler_->context();
    if (!context.guard().is_taken_by_another()) {
        scheduler_->leave();
        return;
    }
    engine::tell_that_it_is_in_use("Tasks", context.rank());
    // That thread goes on: its run() keeps the scheduler. Inside another call nothing of the tasks may be destroyed.
    if (!scheduler_->runs()) static_cast<void>(new (std::nothrow) std::shared_ptr<tasks::Scheduler>(scheduler_));
}

TaskHandle Tasks::spawn(Task task) {
    auto state = std::make_shared<detail::JoinValue<void>>();
    own(task.frame_ ? &task.frame_.promise() : nullptr, state);
    task.frame_ = nullptr;
    return TaskHandle(std::move(state));
}

void Tasks::own(detail::TaskPromise* task, std::shared_ptr<detail::JoinState> state) {
    engine::Entry const entry(scheduler_->context(), "Tasks::spawn");
    if (task == nullptr)
        throw Error(ErrorCode::invalid_argument, "Tasks::spawn got a Task that was moved from or spawned before");
    scheduler_->spawn(*task, std::move(state));
}

void Tasks::run() {
    std::shared_ptr<tasks::Scheduler> const kept = scheduler_;  // a task may destroy this object
    engine::Entry const entry(kept->context(), "Tasks::run");
    kept->run();
}

std::uint64_t Tasks::alive() const noexcept {
    return scheduler_->alive();
}

std::uint64_t Tasks::switches() const noexcept {
    return scheduler_->switches();
}

}  // namespace sluice
