// SPDX-License-Identifier: BSD-3-Clause
#include "sluice/tasks.hpp"

#include <memory>
#include <utility>

#include "engine/context_state.hpp"
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

}  // namespace detail

Tasks::Tasks(Context& context, TaskFailure failure)
    : scheduler_(std::make_unique<tasks::Scheduler>(engine::ContextState::shared_by(context), failure)) {}

Tasks::~Tasks() = default;

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
    engine::Entry const entry(scheduler_->context(), "Tasks::run");
    scheduler_->run();
}

std::uint64_t Tasks::alive() const noexcept {
    return scheduler_->alive();
}

std::uint64_t Tasks::switches() const noexcept {
    return scheduler_->switches();
}

}  // namespace sluice
